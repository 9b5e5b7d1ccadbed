import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distribute } from './distribution.ts';
import { hashLog } from './hashLog.ts';
import { summarise } from './summary.ts';
import { LogBuilder } from './testing/buildLog.ts';

const T1 = { session: 0, customer: 0 };

test('a run as one object', () => {
  const events = LogBuilder.start({ seed: 7 }).buy(T1, 0).buy(T1, 1).tally(1, 0, 2).end();
  assert.deepEqual(summarise(events, 12.5), {
    ...{ lesson: '01-the-sale', cell: 'naive', seed: 7, clock: 'virtual', connections: 2, attempts: 2 },
    ...{ sold: 2, stockBefore: 1, stockAfter: 0, oversold: 1, balanced: false },
    ...{ deadlocks: 0, serializationFailures: 0, retries: 0 },
    ...{ virtualMs: 3.2, raceMs: 3.2, wallMs: 12.5, logHash: hashLog(events) },
    versions: { pglite: '0.5.17', postgres: '18.3' },
  });
});

test('a run of a reader’s code, on the real clock, that never came to its count', () => {
  const events = LogBuilder.start({ cell: 'mine', clock: 'real' }).buy(T1, 0).end('stopped');
  const { lesson, cell, virtualMs, raceMs, sold, balanced } = summarise(events, 3);
  assert.deepEqual([lesson, cell, virtualMs, raceMs, sold, balanced], [null, 'mine', null, 1.6, null, null]);
});

test('a log without a beginning is refused', () => {
  assert.throws(() => summarise([], 0), /begins with run-started; found no event/);
});

const run = (seed: number, oversold: number | null, deadlocks = 0, retries = 0) => {
  return { seed, oversold, balanced: oversold === null ? null : oversold === 0, deadlocks, retries };
};

test('the spread over seeds, and the worst of them', () => {
  const distribution = distribute([run(1, 4, 9), run(2, 7, 1), run(3, 0, 3), run(4, 7, 2), run(5, null)]);
  assert.deepEqual(distribution, {
    ...{ runs: 5, oversoldRuns: 3, unbalancedRuns: 3, worstSeed: 4 },
    oversold: { min: 0, median: 5.5, max: 7 },
    deadlocks: { min: 0, median: 2, max: 9 },
    retries: { min: 0, median: 0, max: 0 },
  });
});

test('among equals the smaller seed is the worst; of no runs none is', () => {
  assert.equal(distribute([run(9, 0), run(3, 0)]).worstSeed, 3);
  const { worstSeed, oversold, runs } = distribute([]);
  assert.deepEqual([worstSeed, oversold, runs], [null, null, 0]);
});
