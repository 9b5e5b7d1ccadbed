import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { DatabaseError, EngineError } from '../engine/errors.ts';
import { setHost } from './context.ts';
import { FakeHost, type FakeCall } from './fakeHost.ts';
import { Client, Pool, sleep } from './index.ts';

let host = new FakeHost();
const use = (made: FakeHost): FakeHost => {
  host = made;
  setHost(host);
  return host;
};
beforeEach(() => use(new FakeHost({ sessions: 3 })));

test('opens connections when needed, lends the last used first, and counts', async () => {
  const pool = new Pool({ max: 2 });
  assert.deepEqual([pool.totalCount, pool.idleCount, pool.waitingCount], [0, 0, 0]);
  const first = await pool.connect();
  const second = await pool.connect();
  const third = pool.connect();
  assert.deepEqual([pool.totalCount, pool.idleCount, pool.waitingCount], [2, 0, 1]);
  first.release();
  await third.then((client) => client.release());
  second.release();
  assert.deepEqual([pool.totalCount, pool.idleCount, pool.waitingCount], [2, 2, 0]);
  await pool.query('SELECT 1');
  assert.equal(host.events('query-sent')[0]?.session, 1);
});

test('serves the line in order', async () => {
  const pool = new Pool({ max: 1 });
  const order: number[] = [];
  const visit = async (number: number): Promise<void> => {
    const client = await pool.connect();
    order.push(number);
    await client.query('SELECT 1');
    client.release();
  };
  await Promise.all([0, 1, 2, 3, 4].map(visit));
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  assert.deepEqual(
    host.events('connection-wait').map(({ ahead }) => ahead),
    [0, 1, 2, 3],
  );
});

test('who waits too long gets pg-pool’s error, and leaves the line', async () => {
  const pool = new Pool({ max: 1, connectionTimeoutMillis: 20 });
  const client = await pool.connect();
  await assert.rejects(pool.connect(), { message: 'timeout exceeded when trying to connect' });
  assert.equal(host.now(), 20_000);
  assert.equal(pool.waitingCount, 0);
  assert.equal(host.events('connection-timeout').length, 1);
  client.release();
  (await pool.connect()).release();
});

test('who is served in time leaves no timer behind', async () => {
  const pool = new Pool({ max: 1, connectionTimeoutMillis: 20 });
  const client = await pool.connect();
  const next = pool.connect();
  client.release();
  (await next).release();
  assert.equal(host.pending, 0);
});

test('a second release is pg-pool’s error; a query after release is refused', async () => {
  const pool = new Pool();
  const client = await pool.connect();
  client.release();
  const text = 'Release called on client which has already been released to the pool.';
  assert.throws(() => client.release(), { message: text });
  await assert.rejects(client.query('SELECT 1'), { code: 'CLIENT_RELEASED', message: /has been released/ });
  const other = await pool.connect();
  await assert.rejects(client.query('SELECT 1'), { code: 'CLIENT_RELEASED' });
  other.release();
});

test('max is at most the sessions; pools share them, and idle connections are given up', async () => {
  assert.throws(() => new Pool({ max: 4 }), { message: /expected at most 3 connections in all.*found max 4/ });
  const [one, two] = [new Pool(), new Pool()];
  const clients = [await one.connect(), await one.connect(), await one.connect()];
  await assert.rejects(two.connect(), { code: '53300', hint: /at most 3 connections in all/ });
  clients[0]?.release();
  const taken = await two.connect();
  assert.deepEqual([one.totalCount, one.idleCount, two.totalCount], [2, 0, 1]);
  assert.deepEqual(host.renewed, [0]);
  taken.release();
});

test('statements of one client run in order, also after one failed', async () => {
  const answer = ({ text }: FakeCall) => (text === 'bad' ? new DatabaseError('no', { code: '42601' }) : []);
  use(new FakeHost({ answer }));
  const client = await new Pool().connect();
  const [, bad, last] = await Promise.allSettled([
    client.query('SELECT 1'),
    client.query('bad'),
    client.query({ text: 'SELECT $1', values: [3] }),
  ]);
  assert.deepEqual([bad?.status, last?.status], ['rejected', 'fulfilled']);
  assert.deepEqual(
    host.events('query-sent').map(({ sql, at }) => [sql, at]),
    [
      ['SELECT 1', 0],
      ['bad', 100],
      ['SELECT $1', 200],
    ],
  );
  client.release();
});

test('an open transaction stays open, as in node-postgres, with a warning', async () => {
  const pool = new Pool({ max: 1 });
  const client = await pool.connect();
  await client.query('BEGIN');
  client.release();
  assert.match(host.events('notice')[0]?.message ?? '', /released in an open transaction/);
  assert.deepEqual(host.renewed, []);
  const next = await pool.connect();
  await next.query('ROLLBACK');
  next.release();
  assert.equal(host.events('notice').length, 1);
});

test('release(true) closes the connection, and the next in line gets a new one', async () => {
  const pool = new Pool({ max: 1 });
  const client = await pool.connect();
  const next = pool.connect();
  client.release(true);
  const fresh = await next;
  assert.deepEqual(host.renewed, [0]);
  assert.equal(pool.totalCount, 1);
  fresh.release();
});

test('a terminated session leaves the pool and is replaced', async () => {
  let ended = true;
  const gone = new EngineError('SESSION_ENDED', 'The session was terminated.');
  use(new FakeHost({ sessions: 1, answer: () => (ended ? gone : []) }));
  const pool = new Pool();
  const client = await pool.connect();
  const text = 'Client has encountered a connection error and is not queryable';
  await assert.rejects(client.query('SELECT 1'), { message: text });
  await assert.rejects(client.query('SELECT 1'), { message: text });
  assert.equal(host.events('query-sent').length, 1);
  client.release();
  assert.equal(pool.totalCount, 0);
  ended = false;
  await pool.query('SELECT 1');
  assert.deepEqual(host.renewed, [0]);
});

test('end() waits for the clients, and then nobody is served', async () => {
  const pool = new Pool({ max: 1 });
  const client = await pool.connect();
  const ended = pool.end();
  const text = 'Cannot use a pool after calling end on the pool';
  await assert.rejects(pool.connect(), { message: text });
  await assert.rejects(pool.end(), { message: 'Called end on pool more than once' });
  let over = false;
  void ended.then(() => (over = true));
  await sleep(1);
  assert.equal(over, false);
  client.release();
  await ended;
  assert.equal(pool.totalCount, 0);
});

test('a client outside a pool', async () => {
  const client = new Client();
  await assert.rejects(client.query('SELECT 1'), { message: /not connected/ });
  await client.connect();
  await client.query('SELECT 1');
  assert.throws(() => client.release(), { message: /came from no pool/ });
  await client.end();
  assert.deepEqual(host.renewed, [0]);
  await assert.rejects(client.query('SELECT 1'), { code: 'CLIENT_RELEASED' });
});
