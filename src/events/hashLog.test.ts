import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from './events.ts';
import { Fnv64 } from './fnv.ts';
import { hashLog } from './hashLog.ts';
import { createNormalise } from './normalise.ts';
import { LogBuilder } from './testing/buildLog.ts';
import { randomLog } from './testing/randomLog.ts';

/** A log with everything in it that Postgres numbers as it goes, `shift` apart. */
function numbered(shift: number): RunEvent[] {
  const n = (number: number) => number + shift;
  const builder = LogBuilder.start({ versions: { pglite: `0.5.${shift}`, postgres: `18.${shift}` } });
  const victim = { session: 0, customer: 3 };
  const detail =
    `Process ${n(1003)} waits for ShareLock on transaction ${n(763)}; blocked by process ${n(1002)}.\n` +
    `Process ${n(1002)} waits for ExclusiveLock on tuple (0,2) of relation ${n(16385)} of database ${n(5)}; blocked by process ${n(1003)}.`;
  builder.failed(victim, builder.start(victim, 'UPDATE'), { code: '40P01', message: 'deadlock detected', detail });
  builder.add({ type: 'notice', severity: 'WARNING', message: `PID ${n(1002)} is not a PostgreSQL backend process` });
  builder.add({ type: 'outcome', attempt: 0, outcome: 'failed', note: { why: detail, more: [detail] } });
  return builder.end('failed', `could not open relation with OID ${n(16390)}`);
}

test('numbers that Postgres hands out as it goes do not count, nor do versions', () => {
  assert.equal(hashLog(numbered(0)), hashLog(numbered(7)));
});

test('who waits for whom counts', () => {
  const swapped = numbered(0).map((event) =>
    event.type === 'query-failed' ? { ...event, detail: event.detail?.replace('1002.', '1003.') ?? null } : event,
  );
  assert.notEqual(hashLog(swapped), hashLog(numbered(0)));
});

test('any other change of any field counts', () => {
  const events = numbered(0);
  const hashes = new Set([hashLog(events)]);
  let changes = 0;
  events.forEach((event, index) => {
    for (const [key, value] of Object.entries(event) as [string, unknown][]) {
      if (key === 'versions') continue;
      const changed = { ...event, [key]: typeof value === 'number' ? value + 1 : { changed: value } } as RunEvent;
      // A text is changed as a text, to something that is no such number.
      const asText = typeof value === 'string' ? ({ ...event, [key]: `${value}!` } as RunEvent) : changed;
      hashes.add(hashLog(events.with(index, asText)));
      changes += 1;
    }
  });
  assert.equal(hashes.size, changes + 1);
});

test('order and number of events count, the order of keys does not', () => {
  const events = randomLog({ seed: 4, customers: 3, sessions: 2, attempts: 6 });
  const turned = events.map((event) => Object.fromEntries(Object.entries(event).toReversed()) as unknown as RunEvent);
  assert.equal(hashLog(turned), hashLog(events));
  assert.notEqual(hashLog(events.slice(0, -1)), hashLog(events));
  assert.notEqual(hashLog(events.toReversed()), hashLog(events));
});

test('the order of keys in a note does not count either, whatever numbers are in it', () => {
  const hash = (note: Record<string, string>) =>
    hashLog(LogBuilder.start().add({ type: 'outcome', attempt: 0, outcome: 'failed', note }).events);
  const [a, b] = ['blocked by process 7', 'Process 8 waits for x; blocked by process 7'];
  assert.equal(hash({ a, b }), hash({ b, a }));
});

test('a reader’s own numbers are left alone', () => {
  const normalise = createNormalise();
  const texts = ['transaction 2 reads 100', 'process 12 carts', 'Key (id)=(5) already exists.', 'tuple 7', 'T1 99'];
  assert.deepEqual(texts.map(normalise), texts);
});

test('a lock’s tag of any kind is normalised', () => {
  const texts = [
    [
      'waits for ShareLock on virtual transaction 3/12; blocked',
      'waits for ShareLock on virtual transaction <vxid#1>; blocked',
    ],
    [
      'ShareLock on speculative token 4 of transaction 9',
      'ShareLock on speculative token <token#1> of transaction <xid#1>',
    ],
    ['ExclusiveLock on advisory lock [5,0,42,1];', 'ExclusiveLock on advisory lock [<database#1>,0,42,1];'],
    [
      'RowExclusiveLock on relation 16402 of database 5',
      'RowExclusiveLock on relation <relation#1> of database <database#1>',
    ],
    ['ShareLock on transaction 10', 'ShareLock on transaction <xid#2>'],
  ] as const;
  const normalise = createNormalise();
  for (const [text, expected] of texts) assert.equal(normalise(text), expected);
});

test('it is FNV-1a as published', () => {
  const digest = (text: string) => {
    const hash = new Fnv64();
    hash.add(new TextEncoder().encode(text));
    return hash.digest;
  };
  assert.deepEqual(['', 'a', 'foobar'].map(digest), ['cbf29ce484222325', 'af63dc4c8601ec8c', '85944171f73967e8']);
});

test('twenty thousand events hash in less than a second', () => {
  const events = randomLog({ seed: 1, customers: 8, sessions: 8, attempts: 700 });
  const started = performance.now();
  for (let hashed = 0; hashed < 20_000; hashed += events.length) hashLog(events);
  assert.ok(performance.now() - started < 1000);
});
