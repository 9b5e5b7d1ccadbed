import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../engine/errors.ts';
import { setHost } from './context.ts';
import { FakeHost, type FakeOptions } from './fakeHost.ts';
import { Pool, race, sleep, type RaceBody, type Verdict } from './index.ts';

function start(options: FakeOptions = {}): FakeHost {
  const host = new FakeHost(options);
  setHost(host);
  return host;
}

test('customers share the attempts, start in order, and take the next number', async () => {
  const host = start();
  const seen: number[][] = [];
  const result = await race({ customers: 3, attempts: 7 }, async ({ customer, attempt }) => {
    seen.push([customer, attempt]);
    await sleep(1 + customer);
  });
  assert.deepEqual(seen.slice(0, 3), [
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
  assert.deepEqual(
    seen.map(([, attempt]) => attempt),
    [0, 1, 2, 3, 4, 5, 6],
  );
  assert.equal(result.attempts, 7);
  assert.equal(result.milliseconds, host.now() / 1000);
  assert.equal(host.events('outcome').length, 7);
});

test('`each` gives every customer its own attempts', async () => {
  start();
  const taken = [0, 0, 0];
  const result = await race({ customers: 3, each: 4 }, async ({ customer }) => {
    taken[customer] = (taken[customer] ?? 0) + 1;
    await sleep(customer);
  });
  assert.deepEqual(taken, [4, 4, 4]);
  assert.equal(result.attempts, 12);
});

test('sizes come from the run’s parameters; without them the error says which', async () => {
  const host = start({ parameters: { buyers: 2, attempts: 3, connections: 1 } });
  const pools = new Set<number>();
  const result = await race(async ({ pool }) => {
    await pool.query('SELECT 1');
    pools.add(pool.totalCount);
  });
  assert.equal(result.attempts, 3);
  assert.deepEqual([...pools], [1]);
  assert.equal(host.events('connection-wait').length > 0, true);
  start();
  await assert.rejects(
    race(() => true),
    { code: 'BAD_ARGUMENT', message: /expected customers or buyers/ },
  );
  await assert.rejects(
    race({ customers: 0 }, () => true),
    { message: /found 0/ },
  );
});

test('what the body returns is the outcome', async () => {
  const host = start();
  const verdicts: Verdict[] = [undefined, true, false, 'oversold', 'duplicate', 'gave-up'];
  const { outcomes } = await race({ customers: 1, attempts: 6 }, ({ attempt }) => verdicts[attempt]);
  assert.deepEqual(outcomes, { confirmed: 2, rejected: 1, oversold: 1, duplicate: 1, 'gave-up': 1, failed: 0 });
  assert.deepEqual(
    host
      .events('outcome')
      .map(({ outcome }) => outcome)
      .slice(0, 3),
    ['confirmed', 'confirmed', 'rejected'],
  );
  const wrong = (() => 'sold') as unknown as RaceBody;
  await assert.rejects(race({ customers: 1, attempts: 1 }, wrong), { message: /one of confirmed, .*found "sold"/ });
});

test('an error of the database is an outcome, with its code; the race goes on', async () => {
  const host = start({ answer: () => new DatabaseError('deadlock detected', { code: '40P01' }) });
  const result = await race({ customers: 2, attempts: 4 }, async ({ attempt, pool, note }) => {
    note({ attempt, when: new Date(Date.UTC(2030, 0, 1)) });
    if (attempt === 0) await pool.query('SELECT 1');
    await sleep(1);
  });
  assert.deepEqual([result.outcomes.failed, result.outcomes.confirmed, result.errors], [1, 3, { '40P01': 1 }]);
  const failed = host.events('outcome').find(({ outcome }) => outcome === 'failed');
  assert.deepEqual(failed?.note, { attempt: 0, when: { date: 0 }, code: '40P01', error: 'deadlock detected' });
});

test('so is the pool’s timeout', async () => {
  start();
  const result = await race(
    { customers: 2, each: 1, pool: { max: 1, connectionTimeoutMillis: 10 } },
    async ({ pool }) => {
      const client = await pool.connect();
      await sleep(50);
      client.release();
    },
  );
  assert.deepEqual(result.errors, { 'connection-timeout': 1 });
});

test('any other error ends the race at once', async () => {
  const host = start();
  let calls = 0;
  const ended = race({ customers: 2, attempts: 100 }, async ({ customer }) => {
    calls += 1;
    await sleep(1);
    if (customer === 1) throw new TypeError('no such thing');
  });
  await assert.rejects(ended, { name: 'TypeError', message: 'no such thing' });
  assert.equal(host.now(), 1000);
  assert.ok(calls <= 3);
});

test('retries are counted per attempt', async () => {
  const host = start();
  const { retries } = await race({ customers: 1, attempts: 2 }, ({ retried }) => {
    retried('version');
    retried('version');
  });
  assert.equal(retries, 4);
  assert.deepEqual(
    host.events('retry').map(({ attempt, times, reason }) => [attempt, times, reason]),
    [
      [0, 1, 'version'],
      [0, 2, 'version'],
      [1, 1, 'version'],
      [1, 2, 'version'],
    ],
  );
});

test('each customer draws from a stream of its own, whoever else draws', async () => {
  const draws = async (customers: number): Promise<number[]> => {
    start({ seed: 7 });
    const drawn: number[][] = [];
    await race({ customers, each: 2 }, async ({ customer, random }) => {
      (drawn[customer] ??= []).push(random.number());
      await sleep(1);
    });
    return drawn[0] ?? [];
  };
  assert.deepEqual(await draws(1), await draws(5));
  assert.notEqual((await draws(1))[0], (await draws(1))[1]);
});

test('one race after another; attempts count on, a given pool stays open', async () => {
  const host = start();
  const pool = new Pool();
  await race({ customers: 1, attempts: 2, pool }, () => true);
  await race({ customers: 1, attempts: 2, pool }, () => true);
  assert.deepEqual(
    host.events('attempt').map(({ attempt }) => attempt),
    [0, 1, 2, 3],
  );
  await pool.query('SELECT 1');
  const going = race({ customers: 1, attempts: 1 }, () => sleep(1));
  await assert.rejects(
    race({ customers: 1, attempts: 1 }, () => true),
    { code: 'BUSY' },
  );
  await going;
});

test('a client that is not released at the end is an error that names who has it', async () => {
  start();
  const ended = race({ customers: 4, each: 1 }, async ({ customer, pool }) => {
    const client = await pool.connect();
    if (customer !== 3) client.release();
  });
  await assert.rejects(ended, {
    code: 'CLIENT_NOT_RELEASED',
    message: /^customer 3 ended without releasing its client/,
  });
});
