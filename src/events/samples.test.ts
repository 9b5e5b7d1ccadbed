import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickEvenly } from './pickEvenly.ts';
import { foldSamples } from './samples.ts';
import { foldSeries } from './series.ts';
import { LogBuilder } from './testing/buildLog.ts';
import { randomLog } from './testing/randomLog.ts';
import { foldTally } from './tally.ts';

const T1 = { session: 0, customer: 0 };

test('samples in order, closed by the final count, the last of several at one moment', () => {
  const log = LogBuilder.start().add({ type: 'sample', stock: 5, orders: 0 }).wait(10);
  log.add({ type: 'sample', stock: 4, orders: 1 }).add({ type: 'sample', stock: 3, orders: 2 }).wait(5);
  assert.deepEqual(foldSamples(log.tally(5, 2, 3).end()), [
    { at: 0, stock: 5, orders: 0 },
    { at: 10, stock: 3, orders: 2 },
    { at: 15, stock: 2, orders: 3 },
  ]);
});

test('a series goes from nothing at the race’s beginning to its total at the end', () => {
  const log = LogBuilder.start()
    .wait(100)
    .add({ type: 'attempt', ...T1, attempt: 0 })
    .wait(10);
  const retry = { type: 'retry', ...T1, attempt: 0, reason: 'version', times: 1 } as const;
  log.add(retry).wait(10).add(retry).add(retry).wait(5);
  const { retries, deadlocks } = foldSeries(
    log.add({ type: 'outcome', ...T1, attempt: 0, outcome: 'gave-up', note: {} }).end(),
  );
  assert.deepEqual(
    retries.map(({ at, count }) => [at, count]),
    [
      [100, 0],
      [110, 1],
      [120, 3],
      [125, 3],
    ],
  );
  assert.deepEqual(
    deadlocks.map(({ at, count }) => [at, count]),
    [
      [100, 0],
      [125, 0],
    ],
  );
});

test('without a race there is no series', () => {
  assert.deepEqual(foldSeries(LogBuilder.start().events), { deadlocks: [], retries: [] });
});

test('thinned, a series keeps beginning, end, order and total', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const events = randomLog({ seed, customers: 6, sessions: 6, attempts: 60 });
    const { deadlocks, retries } = foldSeries(events, 12);
    const tally = foldTally(events);
    assert.ok(deadlocks.length <= 12 && retries.length <= 12);
    assert.deepEqual([deadlocks.at(-1)?.count, retries.at(-1)?.count], [tally.deadlocks, tally.retries]);
    assert.deepEqual(
      deadlocks,
      deadlocks.toSorted((a, b) => a.at - b.at || a.count - b.count),
    );
  }
});

test('items are picked at even distances', () => {
  assert.deepEqual(pickEvenly([0, 1, 2, 3, 4, 5, 6, 7, 8], 3), [0, 4, 8]);
  assert.deepEqual(pickEvenly([0, 1], 3), [0, 1]);
  assert.deepEqual(pickEvenly([0, 1, 2], 1), [2]);
  assert.deepEqual(pickEvenly([0, 1, 2], 0), []);
  assert.deepEqual(pickEvenly([], 0), []);
});
