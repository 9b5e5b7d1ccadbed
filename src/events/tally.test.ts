import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from './events.ts';
import { createTally, foldTally } from './tally.ts';
import { LogBuilder } from './testing/buildLog.ts';
import { randomLog } from './testing/randomLog.ts';

const T1 = { session: 0, customer: 0 };
const SETUP = { session: 0, customer: null };

test('a run that oversold', () => {
  const log = LogBuilder.start().query(SETUP, 'CREATE TABLE').buy(T1, 0).buy(T1, 1).wait(9000).tally(1, 0, 2);
  const tally = foldTally(log.end());
  assert.equal(tally.status, 'done');
  assert.equal(tally.attempts, 2);
  assert.deepEqual(tally.outcomes, { confirmed: 2, oversold: 0, rejected: 0, duplicate: 0, 'gave-up': 0, failed: 0 });
  const sale = { stockBefore: 1, stockAfter: 0, sold: 2, oversold: 1, untraced: 1, balanced: false, extra: {} };
  assert.deepEqual(tally.sale, sale);
  assert.equal(tally.errors, 0);
});

test('a stock below zero balances, and is oversold', () => {
  const { sale } = foldTally(LogBuilder.start().tally(5, -9, 14).events);
  assert.deepEqual([sale?.balanced, sale?.oversold, sale?.untraced], [true, 9, 0]);
});

test('errors are told apart by SQLSTATE', () => {
  const log = LogBuilder.start();
  for (const code of ['40P01', '40P01', '40001', '55P03', '23505', '57014', '25P02', '25P02']) {
    log.failed(T1, log.start(T1, 'UPDATE'), { code });
  }
  const tally = foldTally(log.events);
  assert.deepEqual([tally.deadlocks, tally.serializationFailures], [2, 1]);
  assert.deepEqual([tally.lockTimeouts, tally.uniqueViolations], [1, 1]);
  assert.deepEqual(tally.otherErrors, { '25P02': 2, '57014': 1 });
  assert.equal(tally.errors, 8);
});

test('wasted tries are those tried again, and the last of an attempt that came to nothing', () => {
  const log = LogBuilder.start().add({ type: 'attempt', attempt: 0, ...T1 });
  for (const times of [1, 2]) log.add({ type: 'retry', attempt: 0, reason: 'version', times, ...T1 });
  log.add({ type: 'outcome', attempt: 0, outcome: 'gave-up', note: {}, ...T1 });
  log.add({ type: 'outcome', attempt: 1, outcome: 'rejected', note: {}, ...T1 });
  const { retries, wastedTries } = foldTally(log.events);
  assert.deepEqual([retries, wastedTries], [2, 3]);
});

test('redeliveries, connection timeouts and lock waits are counted', () => {
  const log = LogBuilder.start().add({ type: 'connection-timeout', customer: 1 });
  for (const delivery of [1, 2, 3]) log.add({ type: 'message-delivered', message: 'm', delivery });
  log.add({
    type: 'lock-wait',
    query: 0,
    lockType: 'tuple',
    mode: 'ShareLock',
    relation: 'product',
    blockedBy: [1],
    ...T1,
  });
  const { connectionTimeouts, redeliveries, lockWaits } = foldTally(log.events);
  assert.deepEqual([connectionTimeouts, redeliveries, lockWaits], [1, 2, 1]);
});

test('the race lasts from the first attempt to the last thing that a customer did', () => {
  const log = LogBuilder.start()
    .query(SETUP, 'CREATE TABLE')
    .add({ type: 'connection-acquired', ...T1 })
    .wait(70);
  log.buy(T1, 0).wait(5000).query(SETUP, 'SELECT').tally(1, 0, 1);
  assert.equal(foldTally(log.end()).raceMicroseconds, 4 * 400);
});

test('without attempts it begins with the first thing that a customer did', () => {
  const log = LogBuilder.start().query(SETUP, 'CREATE TABLE').query(T1, 'BEGIN').query(T1, 'COMMIT');
  assert.equal(foldTally(log.end()).raceMicroseconds, 800);
  assert.equal(foldTally(LogBuilder.start().events).raceMicroseconds, 0);
});

test('a run that goes on, or that failed, says so', () => {
  assert.equal(foldTally(LogBuilder.start().events).status, 'running');
  const { status, message, sale } = foldTally(LogBuilder.start().end('failed', 'no table'));
  assert.deepEqual([status, message, sale], ['failed', 'no table', null]);
});

test('reading early changes nothing, and what was read stays', () => {
  const events = randomLog({ seed: 2, customers: 4, sessions: 2, attempts: 20 });
  const fold = createTally();
  const first = fold.value;
  for (const event of events) {
    fold.add(event);
    void fold.value;
  }
  assert.deepEqual(fold.value, foldTally(events));
  assert.equal(first.outcomes.confirmed, 0);
});

test('any tally equals a naive count', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const events = randomLog({ seed, customers: 5, sessions: 3, attempts: 25 });
    const count = (test: (event: RunEvent) => boolean) => events.filter(test).length;
    const tally = foldTally(events);
    assert.equal(tally.attempts, 25);
    assert.equal(
      tally.deadlocks,
      count((event) => event.type === 'query-failed'),
    );
    assert.equal(
      tally.retries,
      count(({ type }) => type === 'retry'),
    );
    assert.equal(
      tally.connectionTimeouts,
      count(({ type }) => type === 'connection-timeout'),
    );
    for (const [outcome, number] of Object.entries(tally.outcomes)) {
      assert.equal(
        number,
        count((event) => event.type === 'outcome' && event.outcome === outcome),
      );
    }
    assert.equal(
      tally.sale?.balanced,
      tally.sale?.sold === (tally.sale?.stockBefore ?? 0) - (tally.sale?.stockAfter ?? 0),
    );
  }
});
