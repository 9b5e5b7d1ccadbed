import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../engine/errors.ts';
import { setHost } from './context.ts';
import { FakeHost, type FakeCall } from './fakeHost.ts';
import { queue, sleep, transaction, type Handler, type QueueOptions, type QueueResult } from './index.ts';

/** Counts commits per message. */
async function consume(
  options: QueueOptions,
  seed = 1,
): Promise<{ host: FakeHost; result: QueueResult; commits: string[] }> {
  const open = new Map<number, string>();
  const commits: string[] = [];
  const answer = ({ session, text, values }: FakeCall): [] => {
    if (text === 'INSERT') open.set(session, String(values[0]));
    if (text === 'COMMIT') commits.push(open.get(session) ?? '');
    return [];
  };
  const host = new FakeHost({ seed, answer });
  setHost(host);
  const handler: Handler = async (message, { pool }) => {
    await transaction(pool, (client) => client.query('INSERT', [message.id]));
    await sleep(1);
  };
  return { host, result: await queue(options).consume(handler), commits };
}

test('25 of 100 arrive twice: 125 commits', async () => {
  const { host, result, commits } = await consume({ messages: 100, workers: 8, redeliver: 25 });
  assert.deepEqual([result.messages, result.deliveries, commits.length, new Set(commits).size], [100, 125, 125, 100]);
  const fates = host.events('message-settled').map(({ fate }) => fate);
  assert.equal(fates.filter((fate) => fate === 'ack-lost').length, 13);
  assert.equal(fates.filter((fate) => fate === 'died-after-commit').length, 12);
  assert.equal(fates.filter((fate) => fate === 'acknowledged').length, 100);
});

test('the seed says which, the same each time', async () => {
  const options = { messages: 20, workers: 3, redeliver: { ackLost: 4 } };
  const lost = async (seed: number): Promise<string[]> =>
    (await consume(options, seed)).host
      .events('message-settled')
      .flatMap((e) => (e.fate === 'ack-lost' ? [e.message] : []));
  assert.deepEqual(await lost(1), await lost(1));
  assert.notDeepEqual(await lost(1), await lost(2));
});

test('who dies before the commit leaves nothing, and its connection is closed', async () => {
  const { host, result, commits } = await consume({ messages: 10, workers: 2, redeliver: { diesBeforeCommit: 3 } });
  assert.deepEqual([result.deliveries, commits.length, new Set(commits).size], [13, 10, 10]);
  assert.deepEqual([result.outcomes.failed, result.errors], [3, { 'worker-died': 3 }]);
  assert.ok(host.renewed.length >= 3);
});

test('a message that comes back is invisible for the time given', async () => {
  const { host } = await consume({ messages: 1, workers: 2, redeliver: { ackLost: 1 }, visibilityMs: 30_000 });
  const settled = host.events('message-settled')[0];
  const again = host.events('message-delivered')[1];
  assert.equal((again?.at ?? 0) - (settled?.at ?? 0), 30_000_000);
  assert.equal(again?.delivery, 2);
});

test('a statement outside a transaction commits by itself, so the worker dies before it', async () => {
  const host = new FakeHost();
  setHost(host);
  const handler: Handler = async ({ id }, { pool }) => void (await pool.query('INSERT', [id]));
  await queue({ messages: 1, workers: 1, redeliver: { diesBeforeCommit: 1 } }).consume(handler);
  assert.equal(host.events('query-sent').length, 1);
});

test('a handler that always fails is given up after maxDeliveries', async () => {
  const host = new FakeHost({ answer: () => new DatabaseError('no', { code: '23505' }) });
  setHost(host);
  const handler: Handler = async (_message, { pool }) => void (await pool.query('INSERT'));
  const result = await queue({ messages: ['a', 'b'], workers: 1, maxDeliveries: 3 }).consume(handler);
  assert.deepEqual([result.deliveries, result.givenUp, result.errors], [6, ['a', 'b'], { '23505': 6 }]);
});

test('more redeliveries than messages are refused', () => {
  setHost(new FakeHost());
  const consumed = queue({ messages: 2, workers: 1, redeliver: 3 });
  return assert.rejects(
    consumed.consume(() => true),
    { message: /expected at most 2.*found 3/ },
  );
});
