import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunStarted } from './events.ts';
import { foldTally } from './tally.ts';
import { LogBuilder } from './testing/buildLog.ts';
import { describeConditions, describeDuration, judge } from './verdict.ts';

const T1 = { session: 0, customer: 0 };
const afterTally = (before: number, after: number, sold: number) =>
  judge(foldTally(LogBuilder.start().tally(before, after, sold).end()));

test('a run that oversold without an error', () => {
  const verdict = afterTally(100, 94, 200);
  assert.deepEqual([verdict.tone, verdict.figure], ['bad', 'sold 200 orders']);
  assert.equal(verdict.rest, 'stock shows 94, oversold by 100');
  assert.equal(verdict.sentence, 'Sold 200 orders, stock shows 94, oversold by 100. Nobody got an error.');
});

test('an attempt that failed is no silence, whatever failed it', () => {
  const log = LogBuilder.start().add({ type: 'outcome', attempt: 0, outcome: 'failed', note: {}, ...T1 });
  assert.deepEqual(judge(foldTally(log.tally(1, 0, 2).end())).also, ['1 attempt failed']);
});

test('a run that is right', () => {
  const verdict = afterTally(100, 0, 100);
  assert.deepEqual([verdict.tone, verdict.sentence], ['ok', 'Sold 100 orders, stock shows 0, nothing oversold.']);
});

test('a run that is wrong without having oversold', () => {
  assert.equal(afterTally(100, 95, 60).rest, 'stock shows 95, 55 sold without a trace in it');
  assert.equal(afterTally(100, 30, 60).rest, 'stock shows 30, it fell by 10 more than was sold');
  assert.equal(afterTally(100, 30, 60).tone, 'bad');
});

test('trouble is counted, in one number or the other', () => {
  const log = LogBuilder.start();
  for (const code of ['40P01', '40P01', '40001', '42601']) log.failed(T1, log.start(T1, 'UPDATE'), { code });
  log.add({ type: 'retry', attempt: 0, reason: '40P01', times: 1, ...T1 });
  log.add({ type: 'outcome', attempt: 0, outcome: 'gave-up', note: {}, ...T1 });
  const { also } = judge(foldTally(log.tally(1, 1, 0).end()));
  assert.deepEqual(also, ['2 deadlocks', '1 serialization failure', '1 other error', '1 retry', '1 attempt gave up']);
});

test('a run that goes on, was stopped, or failed', () => {
  const log = LogBuilder.start()
    .buy(T1, 0)
    .add({ type: 'attempt', attempt: 1, ...T1 });
  const running = judge(foldTally(log.events));
  assert.deepEqual([running.tone, running.sentence], ['open', '1 of 2 attempts answered.']);
  const stopped = judge(foldTally([...log.events, ...LogBuilder.start().end('stopped').slice(1)]));
  assert.equal(stopped.sentence, 'Stopped, 1 of 2 attempts answered.');
  const failed = judge(foldTally(LogBuilder.start().end('failed', 'no table “product”.')));
  assert.deepEqual([failed.tone, failed.sentence], ['bad', 'The run failed: no table “product”.']);
});

test('goods go by their name', () => {
  const verdict = judge(foldTally(LogBuilder.start().tally(1, 0, 1).end()), { goods: 'shirts' });
  assert.equal(verdict.figure, 'sold 1 shirts');
});

test('the conditions name clock, seed, server and time', () => {
  const log = LogBuilder.start().buy(T1, 0).wait(160_000).query(T1, 'SELECT').end();
  const [started] = log;
  const conditions = describeConditions(started as RunStarted, foldTally(log));
  assert.equal(conditions, 'virtual clock · seed 1 · PostgreSQL 18 · 0.16 virtual s');
  const native = {
    ...(started as RunStarted),
    clock: 'real',
    versions: { pglite: null, postgres: 'PostgreSQL 15.12 (Debian)' },
  } as const;
  assert.equal(describeConditions(native, foldTally(log)), 'real clock · seed 1 · PostgreSQL 15 · 0.16 s');
});

test('durations keep a digit that matters', () => {
  const durations = [0, 3100, 99_940, 163_437, 83_673_000].map((time) => describeDuration(time, 'virtual'));
  assert.deepEqual(durations, [
    '0.0 virtual ms',
    '3.1 virtual ms',
    '99.9 virtual ms',
    '0.16 virtual s',
    '83.7 virtual s',
  ]);
});
