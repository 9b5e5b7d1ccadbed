/** Statements that are stopped, sessions that end, clusters that are closed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Cluster } from '../../src/engine/types.ts';
import { fails, isUsable, open, pairOf, pause, untilWaiting, within } from './support.ts';

let cluster: Cluster;
before(async () => void (cluster = await open({ sessions: 3 })));
after(() => cluster.close());

async function makeLock(): Promise<void> {
  const [a] = pairOf(cluster);
  await cluster.reset();
  await a.exec('create table t (n int); insert into t values (1)');
  await a.exec('begin; update t set n = 2');
}

test('a wait for a lock is cancelled; the session and its transaction go on', async () => {
  await makeLock();
  const [a, b] = pairOf(cluster);
  const waits = b.query('update t set n = 3');
  await untilWaiting(b);
  assert.equal(await cluster.cancel(b), true);
  await fails(waits, '57014');
  assert.equal(await cluster.cancel(b), false, 'nothing runs any more');
  await a.query('commit');
  assert.deepEqual((await b.query('select n from t')).rows, [{ n: 2 }]);
});

test('a cancel hits what runs, not what is queued behind it', async () => {
  await makeLock();
  const [, b] = pairOf(cluster);
  const [waits, queued] = [b.query('update t set n = 3'), b.query('select 1 as one')];
  await untilWaiting(b);
  await cluster.cancel(b);
  await fails(waits, '57014');
  assert.deepEqual((await within(queued)).rows, [{ one: 1 }]);
});

test('a reset drops what is queued, and what is called after it runs after it', async () => {
  await makeLock();
  const [, b] = pairOf(cluster);
  const [waits, queued] = [b.query('update t set n = 3'), b.query('select 1')];
  await untilWaiting(b);
  const reset = cluster.reset();
  const later = b.query(`select to_regclass('t') as t`);
  await Promise.all([fails(waits, '57014'), fails(queued, 'SESSION_ENDED', /was reset/), within(reset)]);
  assert.deepEqual((await within(later)).rows, [{ t: null }]);
});

test('two resets at once', async () => {
  await makeLock();
  await within(Promise.all([cluster.reset(), cluster.reset()]));
  await isUsable(cluster);
});

test('a reset ends a function that catches its cancellation', async () => {
  await cluster.reset();
  const [a] = pairOf(cluster);
  const { pid } = a;
  const stubborn = a.exec(
    'do $$ begin loop begin perform pg_sleep(60); exception when query_canceled then null; end; end loop; end $$',
  );
  await untilWaiting(a);
  await cluster.cancel(a);
  await Promise.all([fails(stubborn, '57P01'), within(cluster.reset())]);
  assert.notEqual(a.pid, pid, 'the session was replaced');
  await isUsable(cluster);
});

test('a reset rolls back everyone before anyone forgets its state', async () => {
  await cluster.reset();
  const [a, b] = pairOf(cluster);
  await a.exec('create temp table mine (n int)');
  await b.exec('begin; lock table pg_class, pg_depend, pg_type in access exclusive mode');
  await isUsable(cluster);
});

test('a reset gives a session its user back', async () => {
  const [a] = pairOf(cluster);
  await a.exec('create role guest');
  await a.exec('set session authorization guest');
  await isUsable(cluster);
});

test('sessions that idle too long end by themselves, and a reset replaces them', async () => {
  await cluster.reset();
  const [a, b, c] = cluster.sessions;
  assert.ok(a && b && c);
  await a.exec(`set idle_session_timeout = '20ms'`);
  await b.exec(`begin; set local idle_in_transaction_session_timeout = '20ms'; select pg_advisory_lock(1)`);
  await c.exec(`set transaction_timeout = '20ms'; begin; select 1`);
  await pause(200);
  assert.deepEqual([a.state, b.state, c.state], ['ended', 'ended', 'ended']);
  await fails(a.query('select 1'), 'SESSION_ENDED', /idle-session timeout/);
  await fails(b.query('select 1'), 'SESSION_ENDED', /idle-in-transaction timeout/);
  await fails(c.query('select 1'), 'SESSION_ENDED', /transaction timeout/);
  await isUsable(cluster);
  assert.deepEqual((await b.query('select pg_try_advisory_lock(1) as free')).rows, [{ free: true }]);
});

test('a session may end while a reset is at work on it', async () => {
  for (let run = 0; run < 20; run++) {
    const [a, b] = pairOf(cluster);
    await a.exec(`set idle_session_timeout = ${1 + (run % 3)}`).catch(() => {});
    await b.exec(`begin; set local idle_in_transaction_session_timeout = ${1 + (run % 2)}; select 1`).catch(() => {});
    await isUsable(cluster);
  }
});

test('a transaction that takes too long ends its session with the reason', async () => {
  await cluster.reset();
  const [a] = pairOf(cluster);
  await fails(a.exec(`set transaction_timeout = '20ms'; begin; select pg_sleep(60)`), '25P04');
  await fails(a.query('select 1'), 'SESSION_ENDED', /transaction timeout/);
  await isUsable(cluster);
});

test('a cluster that is closed rejects what waits, what is queued and what comes later', async () => {
  const other = await open({ sessions: 2 });
  const [a, b] = pairOf(other);
  await a.exec('select pg_advisory_lock(1)');
  const pending = [b.query('select pg_advisory_lock(1)'), b.query('select 1')];
  await untilWaiting(b);
  await other.close();
  for (const call of [...pending, a.query('select 1'), b.exec('select 1'), other.waits(), other.reset()]) {
    await fails(call, 'CLUSTER_CLOSED');
  }
  assert.deepEqual([a.state, b.state], ['ended', 'ended']);
  await other.close();
});

test('closing a cluster whose statements nobody awaits leaves no unhandled rejection', async () => {
  const other = await open({ sessions: 1, boot: 'lazy' });
  const [a] = pairOf(other);
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const sleep = a.query('select pg_sleep(60)').catch((error: unknown) => error);
  await other.close();
  assert.match(String(await within(sleep)), /closed/);
  await pause(50);
  process.off('unhandledRejection', note);
  assert.deepEqual(unhandled, []);
});

test('a listener that throws harms nobody but itself', async (context) => {
  await cluster.reset();
  const [a] = pairOf(cluster);
  const dispose = a.onNotice(() => {
    throw new Error('a bad listener');
  });
  const later = context.mock.method(globalThis, 'queueMicrotask', () => {});
  await a.exec(`do $$ begin raise notice 'hello'; end $$`);
  later.mock.restore();
  dispose();
  const [call] = later.mock.calls;
  assert.throws(() => call?.arguments[0]?.(), /a bad listener/);
  await isUsable(cluster);
});
