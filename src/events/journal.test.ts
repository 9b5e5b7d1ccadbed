import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldJournal } from './journal.ts';
import { LogBuilder } from './testing/buildLog.ts';
import { randomLog } from './testing/randomLog.ts';

const T1 = { session: 0, customer: 7 };

test('a row says what became of an attempt', () => {
  const log = LogBuilder.start({ parameters: { strategy: 'none' } });
  const [row] = foldJournal(log.buy(T1, 0, { stockBefore: 5, stockAfter: 4 }).events);
  assert.deepEqual(row, {
    ...{ attempt: 0, customer: 7, sessions: [0], strategy: 'none', retries: 0, outcome: 'confirmed' },
    ...{ beganAt: 0, endedAt: 1600, committedAt: 1450 },
    ...{ stockBefore: 5, stockAfter: 4, units: 1, key: null, message: null, errors: [] },
  });
});

test('an attempt over several sessions, with retries and errors', () => {
  const log = LogBuilder.start().add({ type: 'attempt', customer: 7, attempt: 3 });
  log.failed(T1, log.start(T1, 'UPDATE'), { code: '40001', message: 'could not serialize' });
  log.add({ type: 'retry', customer: 7, attempt: null, reason: '40001', times: 1 });
  log.failed({ ...T1, session: 1 }, log.start({ ...T1, session: 1 }, 'UPDATE'), { code: '40P01', message: 'deadlock' });
  log.add({ type: 'outcome', customer: 7, attempt: 3, outcome: 'failed', note: { strategy: 'rr' } });
  const [row] = foldJournal(log.events);
  assert.deepEqual([row?.sessions, row?.retries, row?.errors], [[0, 1], 1, ['40001', '40P01']]);
  assert.deepEqual([row?.message, row?.strategy, row?.committedAt], ['deadlock', 'rr', null]);
});

test('without a transaction block a purchase is final when its last statement is', () => {
  const log = LogBuilder.start()
    .add({ type: 'attempt', ...T1, attempt: 0 })
    .query(T1, 'UPDATE', 'I')
    .wait(1000);
  const [row] = foldJournal(log.add({ type: 'outcome', ...T1, attempt: 0, outcome: 'confirmed', note: {} }).events);
  assert.deepEqual([row?.committedAt, row?.endedAt], [250, 1400]);
});

test('an attempt that goes on has no outcome; what others do is not its own', () => {
  const log = LogBuilder.start()
    .add({ type: 'attempt', ...T1, attempt: 0 })
    .query({ session: 1, customer: 2 }, 'COMMIT');
  const [row] = foldJournal(log.events);
  assert.deepEqual([row?.outcome, row?.endedAt, row?.sessions, row?.stockBefore], [null, null, [0], null]);
});

test('a note of the wrong type is as good as none, and a note’s message wins', () => {
  const log = LogBuilder.start().buy(T1, 0, { stockBefore: 'five', key: 12, message: 'thank you' });
  const [row] = foldJournal(log.events);
  assert.deepEqual([row?.stockBefore, row?.key, row?.message], [null, '12', 'thank you']);
});

test('in any run there is one row for each attempt, and its times are in order', () => {
  const rows = foldJournal(randomLog({ seed: 5, customers: 6, sessions: 3, attempts: 40 }));
  assert.deepEqual(
    rows.map(({ attempt }) => attempt),
    [...Array(40).keys()],
  );
  for (const { beganAt, committedAt, endedAt, outcome } of rows) {
    assert.ok(endedAt !== null && beganAt <= endedAt);
    assert.equal(committedAt !== null, outcome === 'confirmed');
    if (committedAt !== null) assert.ok(beganAt <= committedAt && committedAt <= endedAt);
  }
});
