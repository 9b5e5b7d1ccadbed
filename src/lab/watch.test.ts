import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setHost } from './context.ts';
import { FakeHost, type FakeAnswer, type FakeCall } from './fakeHost.ts';
import { Client, Pool, race, sleep } from './index.ts';

const never = new Promise<never>(() => undefined);

test('all wait for a connection that one of them holds', async () => {
  setHost(new FakeHost({ parameters: { connections: 1 } }));
  const stuck = race({ customers: 8, each: 1 }, async ({ customer, pool }) => {
    if (customer !== 3) await sleep(1);
    const client = await pool.connect();
    await client.query('BEGIN');
    await pool.query('INSERT INTO journal VALUES (1)');
    client.release();
  });
  await assert.rejects(stuck, {
    code: 'STUCK',
    message:
      'Nothing can happen any more: all 8 customers wait for a connection; 1 connection is held by customer 3, idle in transaction.',
  });
});

test('a row lock, who holds it, and what that one waits for', async () => {
  const answer = ({ session, text }: FakeCall): FakeAnswer =>
    text.endsWith('UPDATE') && session === 0 ? { blockedBy: [1], blocked: () => true, answer: () => [] } : [];
  setHost(new FakeHost({ answer }));
  const stuck = race({ customers: 2, each: 1 }, async ({ customer, pool }) => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FOR UPDATE');
    if (customer === 1) await never;
  });
  await assert.rejects(stuck, {
    message:
      'Nothing can happen any more: customer 0 waits for a row lock held by session 1 (customer 1), ' +
      'which awaits something that the lab knows nothing of; customer 1 awaits something that the lab knows nothing of.',
  });
});

test('many who await the unknown', async () => {
  setHost(new FakeHost());
  const stuck = race({ customers: 9, each: 1 }, ({ customer }) => (customer > 7 ? undefined : never));
  await assert.rejects(stuck, { message: /: all 8 customers await something that the lab knows nothing of\.$/ });
  const some = race({ customers: 3, each: 1 }, async ({ customer }) => (customer > 1 ? sleep(5) : never));
  await assert.rejects(some, { message: /: all 2 customers await / });
});

test('outside a race what the cell waits for is rejected', async () => {
  setHost(new FakeHost());
  const pool = new Pool({ max: 1 });
  const client = await pool.connect();
  await assert.rejects(pool.connect(), {
    code: 'STUCK',
    message:
      'Nothing can happen any more: the cell waits for a connection; 1 connection is held by the cell itself, idle.',
  });
  client.release();
});

test('a body that never awaits is fine', async () => {
  setHost(new FakeHost());
  const { outcomes } = await race({ customers: 5, each: 5 }, () => undefined);
  assert.equal(outcomes.confirmed, 25);
});

test('without a run the lab says so', async () => {
  setHost(new FakeHost())();
  assert.throws(() => new Client(), { code: 'NO_RUN' });
});
