import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../engine/errors.ts';
import { setHost } from './context.ts';
import { FakeHost, type FakeAnswer, type FakeCall } from './fakeHost.ts';
import { Pool, race, retry, transaction } from './index.ts';

/** Fails the first `times` UPDATEs. */
function failing(times: number, code = '40001'): FakeHost {
  let left = times;
  const answer = ({ text }: FakeCall): FakeAnswer =>
    text === 'UPDATE' && left-- > 0 ? new DatabaseError('could not serialize access', { code }) : [];
  const host = new FakeHost({ answer, sessions: 2 });
  setHost(host);
  return host;
}

const sent = (host: FakeHost): string[] => host.events('query-sent').map(({ sql }) => sql);

test('commits, and gives the client back', async () => {
  const host = failing(0);
  const pool = new Pool();
  const options = { isolation: 'serializable', readOnly: true, deferrable: true } as const;
  assert.equal(await transaction(pool, async () => 7, options), 7);
  assert.deepEqual(sent(host), ['BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE', 'COMMIT']);
  assert.deepEqual([pool.totalCount, pool.idleCount], [1, 1]);
});

test('rolls back and throws when there is nothing to retry on', async () => {
  const host = failing(1);
  const pool = new Pool();
  await assert.rejects(
    transaction(pool, (client) => client.query('UPDATE')),
    { code: '40001' },
  );
  assert.deepEqual(sent(host), ['BEGIN', 'UPDATE', 'ROLLBACK']);
  await assert.rejects(
    transaction(pool, () => Promise.reject(new TypeError('mine'))),
    { message: 'mine' },
  );
  assert.deepEqual(sent(host).slice(3), ['BEGIN', 'ROLLBACK']);
  assert.equal(pool.idleCount, 1);
});

test('tries again on the codes given, and logs each retry', async () => {
  const host = failing(3);
  const body = () => transaction(new Pool(), (client) => client.query('UPDATE'), { retryOn: ['40001'] });
  await race({ customers: 1, attempts: 1 }, async () => void (await body()));
  assert.equal(sent(host).filter((sql) => sql === 'BEGIN').length, 4);
  assert.deepEqual(
    host.events('retry').map(({ reason, times, customer, attempt }) => [reason, times, customer, attempt]),
    [1, 2, 3].map((times) => ['40001', times, 0, 0]),
  );
});

test('the last error is thrown when the retries are used up', async () => {
  const host = failing(9);
  const options = { retryOn: ['40001'], maxRetries: 2 };
  await assert.rejects(
    transaction(new Pool(), (client) => client.query('UPDATE'), options),
    { code: '40001' },
  );
  assert.equal(host.events('retry').length, 2);
});

test('backs off by a drawn time around the number, or as the function says', async () => {
  const host = failing(3);
  await retry(() => new Pool().query('UPDATE'), { retryOn: ['40001'], backoffMs: 10 });
  const durations = host.events('sleep').map(({ duration }) => duration);
  assert.equal(durations.length, 3);
  assert.ok(durations.every((duration) => duration >= 5000 && duration <= 15_000));
  assert.equal(new Set(durations).size, 3);
  const other = failing(3);
  await retry(() => new Pool().query('UPDATE'), { retryOn: ['40001'], backoffMs: (times) => times * 2 });
  assert.deepEqual(
    other.events('sleep').map(({ duration }) => duration),
    [2000, 4000, 6000],
  );
});

test('on a client it leaves the client with its owner', async () => {
  failing(0);
  const pool = new Pool();
  const client = await pool.connect();
  await transaction(client, async () => undefined);
  await client.query('SELECT 1');
  client.release();
});

test('a hidden error, answered with ROLLBACK, is not taken for a commit', async () => {
  setHost(new FakeHost({ answer: ({ text }) => (text === 'COMMIT' ? { command: 'ROLLBACK' } : []) }));
  await assert.rejects(
    transaction(new Pool(), async () => 1),
    { code: 'ROLLED_BACK', message: /COMMIT was answered/ },
  );
});
