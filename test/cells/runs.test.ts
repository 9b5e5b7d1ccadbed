/** How runs end when the cell does what it should not, and what a policy can do. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openCluster } from '../../src/engine/index.ts';
import { askedPolicy } from '../../src/engine/schedule.ts';
import type { RunEvent } from '../../src/events/events.ts';
import { hashLog } from '../../src/events/hashLog.ts';
import { foldTally } from '../../src/events/tally.ts';
import { findCell, type FoundCell } from '../../src/runner/node/findCell.ts';
import { runCell, type RunOptions } from '../../src/runner/node/runCell.ts';

const naive = await findCell('01-the-sale/naive');
const cluster = await openCluster({ sessions: 2, clock: 'virtual' });
after(() => cluster.close());
const usual = hashLog((await runCell(cluster, naive, { seed: 1 })).events);

function fixture(name: string): FoundCell {
  return { ...naive, id: name, name, url: new URL(`./fixtures/${name}.ts`, import.meta.url).href };
}

async function failureOf(name: string, options: Partial<RunOptions> = {}): Promise<string> {
  const { error, events } = await runCell(cluster, fixture(name), { seed: 1, ...options });
  assert.equal(events.at(-1)?.type, 'run-ended');
  return error?.message ?? '';
}

/** The cluster is as good as new: the sale gives the log that it always gives. */
async function assertUsable(): Promise<void> {
  const { events, error } = await runCell(cluster, naive, { seed: 1 });
  assert.equal(error, null);
  assert.equal(hashLog(events), usual);
}

test('who waits for a connection that nobody gives back is named, with who holds it', async () => {
  const message = await failureOf('selfDeadlock');
  assert.match(
    message,
    /all 2 customers wait for a connection; 2 connections are held: by customer 0, idle in transaction/,
  );
  await assertUsable();
});

test('who waits for a lock is named, with its holder, who awaits something that never comes', async () => {
  const message = await failureOf('holder');
  assert.match(message, /customer 1 waits for a row lock held by session \d \(customer 0\)/);
  await assertUsable();
});

test('a cell that awaits what never comes', async () => {
  assert.match(await failureOf('after'), /Nothing can happen any more/);
  await assertUsable();
});

test('a client that is not released', async () => {
  assert.match(await failureOf('unreleased'), /customer 0 ended without releasing its client/);
  await assertUsable();
});

test("an error of the cell's own ends the run with its text", async () => {
  assert.match(await failureOf('typeError'), /Cannot read properties of null/);
  await assertUsable();
});

test('a cell that does not exist', async () => {
  assert.match(await failureOf('nowhere'), /nowhere/);
  await assertUsable();
});

test('a stop ends an endless loop, and leaves the cluster usable', async () => {
  const stop = new AbortController();
  const events: RunEvent[] = [];
  const { error } = await runCell(cluster, fixture('endless'), {
    seed: 1,
    signal: stop.signal,
    onEvent(event) {
      events.push(event);
      // By the time the first sleep ends the cell computes for ever.
      if (event.type === 'sleep') setTimeout(() => stop.abort(), 100);
    },
  });
  assert.equal(error, null);
  assert.equal(foldTally(events).status, 'stopped');
  await assertUsable();
});

test('a stop in the middle of a deadlock', async () => {
  const unsorted = await findCell('04-lock-order/unsorted');
  const stop = new AbortController();
  const many = await openCluster({ sessions: unsorted.spec.connections, clock: 'virtual' });
  const { events } = await runCell(many, unsorted, {
    seed: 1,
    signal: stop.signal,
    onEvent: (event) => event.type === 'query-failed' && stop.abort(),
  });
  assert.equal(foldTally(events).status, 'stopped');
  const whole = await runCell(many, unsorted, { seed: 1 });
  assert.equal(foldTally(whole.events).sale?.balanced, true);
  await many.close();
});

test('Date, timers, Math.random and Postgres follow clock and seed', async () => {
  const noteOf = async (seed: number) => {
    const { events, error } = await runCell(cluster, fixture('globals'), { seed });
    assert.equal(error, null);
    const [outcome] = events.filter((event) => event.type === 'outcome');
    return outcome?.note;
  };
  const first = await noteOf(1);
  assert.ok(Number(first?.['slept']) >= 350 && Number(first?.['slept']) < 352, JSON.stringify(first));
  assert.equal(first?.['passed'], 350);
  assert.equal(first?.['agrees'], true);
  assert.deepEqual(await noteOf(1), first);
  const other = await noteOf(2);
  for (const drawn of ['uuid', 'lucky', 'random', 'own']) assert.notEqual(other?.[drawn], first?.[drawn], drawn);
});

test('a policy that is asked decides who moves: one customer after the other sells without a race', async () => {
  const asked: number[][] = [];
  const policy = askedPolicy(async (actors) => {
    asked.push([...actors]);
    return Math.min(...actors);
  });
  const { events, error, choices } = await runCell(cluster, naive, {
    seed: 1,
    policy,
    parameters: { customers: 2, attempts: 20 },
  });
  assert.equal(error, null);
  assert.ok(asked.length > 0 && asked.every((actors) => actors.length > 1));
  assert.ok(choices.length >= asked.length);
  const { sale } = foldTally(events);
  assert.deepEqual([sale?.sold, sale?.stockAfter], [20, 80]);
});

test('a policy that wants what cannot be ends the run with its reason', async () => {
  const policy = askedPolicy(async () => 77);
  const { error } = await runCell(cluster, naive, { seed: 1, policy });
  assert.match(error?.message ?? '', /customer 77, which cannot move/);
  await assertUsable();
});

test('latencies are parameters of a run', async () => {
  const { events } = await runCell(cluster, naive, { seed: 1, latency: { networkMs: 10, serviceMs: 0.1 } });
  const slow = foldTally(events).raceMicroseconds;
  const { events: usual } = await runCell(cluster, naive, { seed: 1 });
  assert.ok(slow > 10 * foldTally(usual).raceMicroseconds);
  assert.notEqual(hashLog(events), hashLog(usual));
});
