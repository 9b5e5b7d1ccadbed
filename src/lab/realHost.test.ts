import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openCluster, type Cluster } from '../engine/index.ts';
import type { RunEvent } from '../events/events.ts';
import { setHost } from './context.ts';
import { Client, Pool, queue, race, script, sleep, transaction } from './index.ts';
import { RealHost } from './realHost.ts';

let cluster: Cluster;
let log: RunEvent[] = [];
let host: RealHost;

const types = (): string[] => log.map(({ type }) => type);

async function start(): Promise<void> {
  await cluster.reset();
  log = [];
  host?.dispose();
  host = new RealHost(cluster, { seed: 1, parameters: {}, log: (event) => log.push(event) });
  setHost(host);
  await cluster.sessions[0]?.exec(
    'CREATE TABLE product (id int PRIMARY KEY, stock int); INSERT INTO product VALUES (0, 100)',
  );
}

before(async () => {
  cluster = await openCluster({ sessions: 4, settings: { deadlock_timeout: '200ms' } });
});
after(() => cluster.close());

test('a statement’s events carry its times, rows and transaction', async () => {
  await start();
  await transaction(new Pool(), (client) => client.query('SELECT stock FROM product WHERE id = $1', [0]));
  assert.deepEqual(types(), [
    'connection-acquired',
    ...['query-sent', 'query-started', 'transaction', 'query-done'],
    ...['query-sent', 'query-started', 'query-done'],
    ...['query-sent', 'query-started', 'transaction', 'query-done'],
    'connection-released',
  ]);
  const [begin, select, commit] = log.filter((event) => event.type === 'query-done');
  assert.deepEqual([begin?.transaction, select?.transaction, commit?.transaction], ['T', 'T', 'I']);
  assert.deepEqual(select?.rows, [{ stock: 100 }]);
  assert.ok(log.every(({ at }, index) => at >= (log[index - 1]?.at ?? 0)));
});

test('a wait for a row lock is seen, with who blocks, and its end', async () => {
  await start();
  await race({ customers: 2, each: 1 }, ({ pool }) =>
    transaction(pool, async (client) => {
      await client.query('UPDATE product SET stock = stock - 1');
      await sleep(60);
    }),
  );
  const waits = log.filter((event) => event.type === 'lock-wait');
  assert.equal(waits.length, 1);
  assert.deepEqual([waits[0]?.lockType, waits[0]?.session, waits[0]?.blockedBy], ['transactionid', 1, [0]]);
  assert.equal(log.filter((event) => event.type === 'lock-wait-ended').length, 1);
});

test('a script sees real waits, a real deadlock, and 40001', async () => {
  await start();
  const write = 'UPDATE product SET stock = $1 WHERE id = 0';
  const results = await script([
    ['T1', 'BEGIN ISOLATION LEVEL REPEATABLE READ'],
    ['T2', 'BEGIN ISOLATION LEVEL REPEATABLE READ'],
    ['T1', 'SELECT stock FROM product', { rows: [{ stock: 100 }] }],
    ['T2', 'SELECT stock FROM product', { rows: [{ stock: 100 }] }],
    ['T1', write, [99], { waits: false, rowCount: 1 }],
    ['T2', write, [99], { waits: true, code: '40001' }],
    ['T1', 'COMMIT'],
    ['T2', 'ROLLBACK'],
  ]);
  assert.match(results[5]?.error?.message ?? '', /could not serialize access/);
  await cluster.sessions[0]?.exec('INSERT INTO product VALUES (1, 100)');
  const dead = await script([
    ['T1', 'BEGIN'],
    ['T2', 'BEGIN'],
    ['T1', 'UPDATE product SET stock = 1 WHERE id = 0'],
    ['T2', 'UPDATE product SET stock = 1 WHERE id = 1'],
    ['T1', 'UPDATE product SET stock = 1 WHERE id = 1', { waits: true, code: '40P01' }],
    ['T2', 'UPDATE product SET stock = 1 WHERE id = 0', { waits: true }],
    ['T2', 'COMMIT'],
  ]);
  assert.equal(dead[5]?.result?.rowCount, 1);
});

test('a closed connection is rolled back, also while it waits', async () => {
  await start();
  const [one, two] = [new Client(), new Client()];
  await Promise.all([one.connect(), two.connect()]);
  await one.query('BEGIN');
  await one.query('UPDATE product SET stock = 1');
  const waiting = assert.rejects(two.query('UPDATE product SET stock = 2'), { code: '57014' });
  await sleep(30);
  await two.end();
  await waiting;
  await one.end();
  const all = [new Client(), new Client(), new Client(), new Client()];
  for (const client of all) await client.connect();
  for (const client of all) await client.end();
  const { rows } = await new Pool().query('SELECT stock FROM product');
  assert.deepEqual(rows, [{ stock: 100 }]);
});

test('a worker that dies before its commit leaves nothing; one after it leaves all', async () => {
  await start();
  await cluster.sessions[0]?.exec('CREATE TABLE orders (id text)');
  await queue({
    messages: 10,
    workers: 3,
    redeliver: { diesBeforeCommit: 2, diesAfterCommit: 3 },
    visibilityMs: 5,
  }).consume(({ id }, { pool }) =>
    transaction(pool, async (client) => {
      await client.query('INSERT INTO orders VALUES ($1)', [id]);
    }),
  );
  const { rows } = await new Pool().query('SELECT count(*)::int AS all, count(DISTINCT id)::int AS ids FROM orders');
  assert.deepEqual(rows, [{ all: 13, ids: 10 }]);
});

test('sleeps are attributed on the machine’s clock, too', async () => {
  await start();
  const read = async (pool: Pool): Promise<void> => void (await pool.query('SELECT 1'));
  await race({ customers: 4, each: 3, pool: { max: 2 } }, async ({ customer, pool }) => {
    await read(pool);
    await sleep(1 + customer);
    await read(pool);
  });
  const slept = log.filter((event) => event.type === 'sleep');
  assert.equal(slept.length, 12);
  for (const { customer, duration } of slept) assert.equal(customer, duration / 1000 - 1);
});

test('in hand-over a connection takes no millisecond of a timer', async () => {
  await start();
  const { milliseconds } = await race({ customers: 4, each: 50, pool: { max: 1 } }, async ({ pool }) => {
    (await pool.connect()).release();
  });
  assert.ok(milliseconds < 100, `${milliseconds} ms for 200 hand-overs`);
});
