import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from './events.ts';
import type { Span } from './lane.ts';
import { createSpans, foldSpans, sumSpans, type Lane, type Timeline } from './spans.ts';
import { LogBuilder } from './testing/buildLog.ts';
import { randomLog } from './testing/randomLog.ts';

const T1 = { session: 0, customer: 0 };
const T2 = { session: 1, customer: 1 };

const show = ({ spans }: Lane) => spans.map(({ kind, from, to }) => `${kind} ${from}-${to}`);
const lane = (lanes: readonly Lane[], index: number): Lane =>
  lanes.find((each) => each.index === index) ?? assert.fail();

test('a transaction of a customer who sleeps in the middle', () => {
  const log = LogBuilder.start().query(T1, 'BEGIN').add({ type: 'sleep', customer: 0, duration: 1000 }).wait(1000);
  const { sessions, customers } = foldSpans(log.add({ type: 'sleep-ended', customer: 0 }).query(T1, 'COMMIT').end());
  const query = (at: number) => [
    `network ${at}-${at + 150}`,
    `running ${at + 150}-${at + 250}`,
    `network ${at + 250}-${at + 400}`,
  ];
  assert.deepEqual(show(lane(sessions, 0)), [...query(0), 'idle-in-transaction 400-1400', ...query(1400)]);
  assert.deepEqual(show(lane(customers, 0)), [...query(0), 'sleeping 400-1400', ...query(1400)]);
  assert.deepEqual(lane(sessions, 0).marks, [{ kind: 'commit', at: 1650, query: 1, code: null }]);
  assert.deepEqual(show(lane(sessions, 1)), []);
  assert.equal(lane(customers, 0).spans.find(({ kind }) => kind === 'sleeping')?.transaction, 'T');
});

test('a wait for a lock, its blocker, and the victim', () => {
  const log = LogBuilder.start().query(T1, 'BEGIN').query(T2, 'BEGIN');
  const query = log.start(T2, 'UPDATE');
  const lock = { lockType: 'transactionid', mode: 'ShareLock', relation: null, blockedBy: [0] };
  log
    .wait(100)
    .add({ type: 'lock-wait', ...T2, query, ...lock })
    .wait(1_000_000);
  log
    .add({ type: 'lock-wait-ended', ...T2, query })
    .failed(T2, query, { code: '40P01' })
    .query(T2, 'ROLLBACK');
  const { spans, marks } = lane(foldSpans(log.end()).sessions, 1);
  const wait = spans.find(({ kind }) => kind === 'lock-wait');
  assert.deepEqual([wait?.from, wait?.to, wait?.query], [1050, 1_001_050, query]);
  assert.deepEqual(wait?.lock, lock);
  assert.deepEqual(
    marks.map(({ kind, at }) => [kind, at]),
    [
      ['deadlock', 1_001_050],
      ['rollback', 1_001_450],
    ],
  );
});

test('a customer waits for a connection, in a transaction of its own or not', () => {
  const log = LogBuilder.start().add({ type: 'connection-wait', customer: 1, ahead: 0 }).wait(30);
  log
    .add({ type: 'connection-acquired', ...T2 })
    .query(T2, 'BEGIN')
    .add({ type: 'connection-wait', customer: 1, ahead: 0 });
  log.wait(50).add({ type: 'connection-timeout', customer: 1 });
  const { spans, marks } = lane(foldSpans(log.events).customers, 1);
  const waits = spans.filter(({ kind }) => kind === 'connection-wait');
  assert.deepEqual(
    waits.map(({ from, to, transaction }) => [from, to, transaction]),
    [
      [0, 30, 'I'],
      [430, 480, 'T'],
    ],
  );
  assert.deepEqual(
    marks.map(({ kind }) => kind),
    ['connection-timeout'],
  );
});

test('a client released in a transaction leaves its session in it', () => {
  const log = LogBuilder.start()
    .query(T1, 'BEGIN')
    .add({ type: 'connection-released', ...T1 })
    .wait(100);
  const { sessions, customers } = foldSpans(log.end('stopped'));
  assert.equal(lane(sessions, 0).spans.at(-1)?.kind, 'idle-in-transaction');
  assert.equal(lane(customers, 0).spans.at(-1)?.to, 400);
});

test('what is still going on ends where the log does', () => {
  const log = LogBuilder.start();
  log.start(T1, 'SELECT');
  assert.deepEqual(show(lane(foldSpans(log.wait(75).end('stopped')).sessions, 0)), [
    'network 0-150',
    'running 150-225',
  ]);
});

test('an aborted transaction shows as such', () => {
  const log = LogBuilder.start().query(T1, 'BEGIN');
  log.failed(T1, log.start(T1, 'SELEKT'), { code: '42601' }).wait(10);
  const { spans, marks } = lane(foldSpans(log.end()).sessions, 0);
  assert.deepEqual([spans.at(-1)?.kind, spans.at(-1)?.transaction], ['idle-in-transaction', 'E']);
  assert.deepEqual(marks.at(-1), { kind: 'error', at: 550, query: 1, code: '42601' });
});

test('a customer with two statements at once shows the one that holds it up', () => {
  const log = LogBuilder.start();
  const first = log.start(T1, 'SELECT 1');
  const second = log.start({ session: 1, customer: 0 }, 'SELECT 2');
  log.add({
    type: 'lock-wait',
    session: 1,
    customer: 0,
    query: second,
    lockType: 'tuple',
    mode: 'X',
    relation: 'a',
    blockedBy: [0],
  });
  log.wait(10).done(T1, first).done({ session: 1, customer: 0 }, second, { transaction: 'I' });
  const { spans } = lane(foldSpans(log.end()).customers, 0);
  assert.deepEqual(spans.map(({ kind, query }) => [kind, query]).slice(-2), [
    ['lock-wait', second],
    ['network', second],
  ]);
  checkLane(spans, log.at);
});

test('the sum of a lane', () => {
  const sums = sumSpans(lane(foldSpans(LogBuilder.start().query(T1, 'BEGIN').wait(7).end()).sessions, 0));
  assert.deepEqual([sums.running, sums.network, sums['idle-in-transaction'], sums.sleeping], [100, 300, 7, 0]);
});

function checkLane(spans: readonly Span[], end: number): void {
  let edge = 0;
  for (const { from, to } of spans) {
    assert.ok(from >= edge && to > from && to <= end, `${from}-${to} after ${edge} of ${end}`);
    edge = to;
  }
}

/** Total µs of a lane's spans that belong to a statement. */
function timeOf(spans: readonly Span[], query: number): number {
  return spans.filter((span) => span.query === query).reduce((sum, { from, to }) => sum + to - from, 0);
}

function checkQueries(events: readonly RunEvent[], { sessions, customers }: Timeline): void {
  const sent = new Map(
    events.flatMap((event) => (event.type === 'query-sent' ? [[event.query, event.at] as const] : [])),
  );
  for (const event of events) {
    if (event.type !== 'query-done' && event.type !== 'query-failed') continue;
    const took = event.at - (sent.get(event.query) ?? NaN);
    assert.equal(timeOf(lane(sessions, event.session ?? -1).spans, event.query), took);
    assert.equal(timeOf(lane(customers, event.customer ?? -1).spans, event.query), took);
  }
}

test('in any run spans lie in order within the run, and cover each statement from sending to answer', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const events = randomLog({ seed, customers: 5, sessions: 3, attempts: 12 });
    const timeline = foldSpans(events);
    assert.equal(timeline.end, events.at(-1)?.at);
    for (const { spans } of [...timeline.sessions, ...timeline.customers]) checkLane(spans, timeline.end);
    checkQueries(events, timeline);
  }
});

test('between begin and end of a transaction a session is never idle', () => {
  const events = randomLog({ seed: 8, customers: 5, sessions: 3, attempts: 30 });
  const { sessions } = foldSpans(events);
  const began = new Map<number, number>();
  for (const event of events) {
    if (event.type !== 'transaction' || event.session === null || event.action === 'fail') continue;
    if (event.action === 'begin') began.set(event.session, event.at);
    else checkCovered(lane(sessions, event.session).spans, began.get(event.session) ?? NaN, event.at);
  }
});

function checkCovered(spans: readonly Span[], from: number, to: number): void {
  const within = spans.map((span) => Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)));
  assert.equal(
    within.reduce((sum, time) => sum + time, 0),
    to - from,
  );
}

test('a live timeline equals the one of the log so far, at every event', () => {
  const events = randomLog({ seed: 3, customers: 4, sessions: 2, attempts: 6 });
  const fold = createSpans();
  events.forEach((event, index) => {
    fold.add(event);
    if (index % 17 === 0) assert.deepEqual(fold.value, foldSpans(events.slice(0, index + 1)));
  });
});

test('a backend’s clock that lags behind the log’s moves no span before the one that it follows', () => {
  const log = LogBuilder.start();
  const query = log.start(T1, 'SELECT');
  log.wait(40).add({ type: 'lock-wait', ...T1, query, lockType: 'tuple', mode: 'X', relation: 'a', blockedBy: [1] });
  log.wait(10).done(T1, query, { finishedAt: 120, transaction: 'I' });
  const { spans } = lane(foldSpans(log.end()).sessions, 0);
  assert.deepEqual(
    spans.map(({ kind, from, to }) => [kind, from, to]),
    [
      ['network', 0, 150],
      ['running', 150, 190],
      ['network', 190, 350],
    ],
  );
});
