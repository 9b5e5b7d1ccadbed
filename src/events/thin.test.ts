import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldSpans } from './spans.ts';
import { LogBuilder, type Actor } from './testing/buildLog.ts';
import { randomLog } from './testing/randomLog.ts';
import { thinLog } from './thin.ts';

const events = randomLog({ seed: 6, customers: 6, sessions: 4, attempts: 60 });

test('a short log stays whole', () => {
  assert.deepEqual(thinLog(events, events.length), { events, leftOut: 0 });
});

test('a long log fits, in order, with its frame, and says what is missing', () => {
  for (const limit of [3, 10, 50, 200, 500, 1000]) {
    const { events: kept, leftOut } = thinLog(events, limit);
    assert.equal(kept.length, limit);
    assert.equal(leftOut, events.length - limit);
    const places = kept.map((event) => events.indexOf(event));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.deepEqual(
      kept.slice(-2).map(({ type }) => type),
      ['tally', 'run-ended'],
    );
    assert.equal(kept[0]?.type, 'run-started');
  }
});

test('the frame is kept even where there is no room for it', () => {
  assert.deepEqual(
    thinLog(events, 0).events.map(({ type }) => type),
    ['run-started', 'tally', 'run-ended'],
  );
});

test('deadlocks and outcomes come before the rest', () => {
  const { events: kept } = thinLog(events, 400);
  const count = (list: typeof kept, type: string) => list.filter((event) => event.type === type).length;
  for (const type of ['outcome', 'query-failed']) assert.equal(count(kept, type), count(events, type));
  assert.ok(count(kept, 'sample') > 10);
});

test('what led to the first deadlock is there: the victim’s wait and what its blocker did', () => {
  const { events: kept } = thinLog(events, 400);
  const failure = kept.findIndex(({ type }) => type === 'query-failed');
  const waits = kept.slice(0, failure).filter((event) => event.type === 'lock-wait');
  const wait = waits.findLast(({ session }) => session === kept[failure]?.session) ?? assert.fail();
  assert.ok(kept.some((event) => event.session === wait.blockedBy[0] && event.type === 'query-sent'));
});

test('folds take a thinned log', () => {
  const { sessions } = foldSpans(thinLog(events, 300).events);
  for (const { spans } of sessions) for (const { from, to } of spans) assert.ok(from < to);
});

test('a session whose wait for another had ended before is not drawn into a deadlock', () => {
  const [T1, T2, T3] = [0, 1, 2].map((index) => ({ session: index, customer: index })) as [Actor, Actor, Actor];
  const wait = (blocker: number) =>
    ({ type: 'lock-wait', lockType: 'tuple', mode: 'X', relation: 'a', blockedBy: [blocker] }) as const;
  const log = LogBuilder.start({ sessions: 3 }).query(T3, 'BEGIN');
  log.add({ ...wait(2), ...T2, query: 90 }).add({ type: 'lock-wait-ended', ...T2, query: 90 });
  log.add({ ...wait(1), ...T1, query: 92 });
  log.add({ type: 'transaction', ...T3, action: 'commit' }).failed(T1, 92, { code: '40P01' });
  for (let i = 0; i < 50; i++) log.add({ type: 'console', level: 'log', text: String(i) });
  const { events: kept } = thinLog(log.end(), 6);
  assert.deepEqual(
    kept.map(({ type }) => type),
    ['run-started', ...['lock-wait', 'lock-wait-ended', 'lock-wait', 'query-failed'], 'run-ended'],
  );
});
