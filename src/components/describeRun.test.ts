import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Summary } from '../events/summary.ts';
import { compareLogs, describeRecorded, describeRun } from './describeRun.ts';

const summary: Summary = {
  lesson: '01-the-sale',
  cell: 'naive',
  seed: 1,
  clock: 'virtual',
  connections: 8,
  attempts: 200,
  sold: 200,
  stockBefore: 100,
  stockAfter: 99,
  oversold: 100,
  deadlocks: 0,
  serializationFailures: 0,
  retries: 0,
  virtualMs: 164.22,
  raceMs: 164.22,
  wallMs: 1904,
  balanced: false,
  logHash: 'b08a7cb3126cbadc',
  versions: { pglite: '0.5.17', postgres: '18.7' },
};

test('a run’s conditions name the clock of each duration', () => {
  assert.equal(
    describeRun(summary),
    'virtual clock · seed 1 · 0.164 virtual s · 8 sessions · PostgreSQL 18.7 in this page · ran in 1.9 s',
  );
  assert.match(describeRun({ ...summary, connections: 1 }), / · 1 session · /);
});

test('a recorded run says where it was made, and with what', () => {
  assert.equal(
    describeRecorded(summary),
    'virtual clock · seed 1 · 0.164 virtual s · 8 sessions · PostgreSQL 18.7 (PGlite 0.5.17) in Node',
  );
});

test('logs are compared by all digits, and only when they have to agree', () => {
  const other = { ...summary, logHash: 'b08a7cb3126cbadd' };
  assert.equal(compareLogs(summary, summary), 'log b08a7cb3, the same as recorded');
  assert.equal(compareLogs(other, summary), 'log b08a7cb3, not the same as recorded (b08a7cb3)');
  assert.equal(compareLogs({ ...other, seed: 2 }, summary), 'log b08a7cb3');
  assert.equal(compareLogs({ ...other, connections: 4 }, summary), 'log b08a7cb3');
});
