import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { DatabaseError, EngineError } from './errors.ts';
import { fromEventTarget } from './port.ts';
import { connectCluster } from './remote.ts';
import { serveCluster } from './serve.ts';
import { FakeCluster, until } from './testing/fakeCluster.ts';
import type { FakeSession } from './testing/fakeCluster.ts';
import type { FromServer, ToServer } from './protocol.ts';
import type { RemoteCluster } from './remote.ts';
import type { Session } from './types.ts';

interface Pair {
  readonly cluster: FakeCluster;
  readonly remote: RemoteCluster;
  /** Session 0 as the client sees it, and as it is. */
  readonly session: Session;
  readonly fake: FakeSession;
}

async function pair(context: TestContext): Promise<Pair> {
  const cluster = new FakeCluster();
  const { port1, port2 } = new MessageChannel();
  const dispose = serveCluster(cluster, fromEventTarget<FromServer, ToServer>(port1));
  context.after(dispose);
  const remote = await connectCluster(port2);
  return { cluster, remote, session: sessionOf(remote, 0), fake: cluster.session(0) };
}

function sessionOf(remote: RemoteCluster, index: number): Session {
  const session = remote.sessions[index];
  assert.ok(session !== undefined);
  return session;
}

const failsWith =
  (code: string, message = /./) =>
  (error: unknown): true => {
    assert.ok(error instanceof EngineError || error instanceof DatabaseError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };

test('a client sees the versions and the sessions of the cluster', async (context) => {
  const { remote } = await pair(context);
  assert.deepEqual(remote.versions, { pglite: '0.0.0', postgres: '18.0' });
  assert.deepEqual(
    remote.sessions.map(({ index, pid, state }) => [index, pid, state]),
    [
      [0, 100, 'idle'],
      [1, 101, 'idle'],
      [2, 102, 'idle'],
    ],
  );
});

test('parameters and rows cross as values', async (context) => {
  const { session } = await pair(context);
  const values = [new Date(0), 10n, new Uint8Array([1, 2]), [1, [2]], { a: null }, null, undefined, true, 'x'];
  const { rows } = await session.query('SELECT', values);
  assert.deepEqual(rows, [{ text: 'SELECT', values }]);
  assert.deepEqual((await session.query('SELECT')).rows, [{ text: 'SELECT', values: undefined }]);
  assert.equal((await session.exec('SELECT 1; SELECT 2')).length, 1);
});

test('a parameter that cannot be sent is named', async (context) => {
  const { session, fake } = await pair(context);
  await assert.rejects(
    session.query('SELECT', [1, () => 2]),
    failsWith('BAD_ARGUMENT', /^Parameter \$2 \(values\[1\]\) is or holds a function/),
  );
  await assert.rejects(session.query('SELECT', [Symbol('s')]), failsWith('BAD_ARGUMENT', /^Parameter \$1 .* a symbol/));
  await assert.rejects(session.query('SELECT', [{ f() {} }]), failsWith('BAD_ARGUMENT', /^Parameter \$1/));
  assert.deepEqual(fake.ran, []);
  assert.equal(session.state, 'idle');
});

test('a result that cannot be sent rejects', async (context) => {
  const { session } = await pair(context);
  await assert.rejects(session.query('uncloneable'), { name: 'DataCloneError' });
});

test('an error of the database arrives with its fields', async (context) => {
  const { session, fake } = await pair(context);
  fake.failure = new DatabaseError('deadlock detected', { code: '40P01', detail: 'Process 1 waits.', position: '7' });
  await assert.rejects(session.query('fail'), (error: unknown) => {
    assert.ok(error instanceof DatabaseError);
    assert.deepEqual([error.code, error.detail, error.position], ['40P01', 'Process 1 waits.', '7']);
    return true;
  });
});

test('statements of one session run in the order of their calls, of several at once', async (context) => {
  const { remote, session, fake } = await pair(context);
  const order: string[] = [];
  const log = (name: string) => (): void => void order.push(name);
  const first = session.query('wait').then(log('first'));
  const second = session.query('second').then(log('second'));
  await sessionOf(remote, 1).query('other').then(log('other'));
  fake.letGo();
  await Promise.all([first, second]);
  assert.deepEqual(order, ['other', 'first', 'second']);
});

test('notices and notifications arrive while the statement waits', async (context) => {
  const { session, fake } = await pair(context);
  const heard: string[] = [];
  const stop = session.onNotice((notice) => heard.push(notice.message));
  session.onNotification(({ channel, payload, processId }) => heard.push(`${channel} ${payload} ${processId}`));
  const waiting = session.query('wait');
  await until(() => fake.state === 'waiting');
  fake.notice('still waiting');
  fake.notify('stock', '99');
  await until(() => heard.length === 2);
  assert.equal(session.state, 'waiting');
  stop();
  fake.notice('unheard');
  fake.letGo();
  await waiting;
  assert.deepEqual(heard, ['still waiting', 'stock 99 100']);
  assert.equal(session.state, 'idle');
});

test('a session is running from its call on', async (context) => {
  const { session } = await pair(context);
  const call = session.query('SELECT');
  assert.equal(session.state, 'running');
  await call;
  assert.equal(session.state, 'idle');
});

test('waits and cancel reach the cluster', async (context) => {
  const { remote, session, fake } = await pair(context);
  assert.equal(await remote.cancel(session), false);
  const waiting = assert.rejects(session.query('wait'), failsWith('57014'));
  await until(() => fake.state === 'waiting');
  assert.deepEqual(
    (await remote.waits()).map(({ pid }) => pid),
    [100],
  );
  assert.equal(await remote.cancel(session), true);
  await waiting;
});

test('a reset brings new pids, drops what was queued, and hears the new sessions', async (context) => {
  const { cluster, remote, session, fake } = await pair(context);
  const gate = Promise.withResolvers<undefined>();
  cluster.resetGate = gate.promise;
  const running = assert.rejects(session.query('wait'), failsWith('57014'));
  const queued = assert.rejects(session.query('queued'), failsWith('SESSION_ENDED', /reset/));
  const reset = remote.reset();
  const next = session.query('next run');
  await Promise.all([running, queued]);
  gate.resolve(undefined);
  await reset;
  assert.equal(session.pid, 200);
  await next;
  assert.deepEqual([fake.ran, cluster.session(0).ran], [['wait'], ['next run']]);
  const heard = new Promise((resolve) => session.onNotice(resolve));
  cluster.session(0).notice('new');
  await heard;
});

test('a session that was terminated is seen as ended', async (context) => {
  const { session, fake } = await pair(context);
  fake.state = 'ended';
  await assert.rejects(session.query('SELECT'), failsWith('SESSION_ENDED'));
  assert.equal(session.state, 'ended');
});

test('the worker dies: pending and later calls reject, listeners are told once', async (context) => {
  const { remote, session } = await pair(context);
  const told: string[] = [];
  remote.onFailure((error) => told.push(error.message));
  const pending = [session.query('wait'), session.query('queued'), sessionOf(remote, 1).exec('wait'), remote.waits()];
  remote.fail(new EngineError('CLUSTER_FAILED', 'killed'));
  remote.fail(new EngineError('CLUSTER_FAILED', 'killed again'));
  for (const call of pending) await assert.rejects(call, failsWith('CLUSTER_FAILED', /^killed$/));
  await assert.rejects(session.query('late'), failsWith('CLUSTER_FAILED'));
  remote.onFailure((error) => told.push(`late: ${error.message}`));
  await until(() => told.length === 2);
  assert.deepEqual(told, ['killed', 'late: killed']);
  assert.equal(session.state, 'ended');
});

test('the cluster dies in its worker: all pending calls reject', async (context) => {
  const { remote, session } = await pair(context);
  const told: EngineError[] = [];
  remote.onFailure((error) => told.push(error));
  const waiting = assert.rejects(sessionOf(remote, 1).query('wait'), failsWith('CLUSTER_FAILED', /WASM trapped/));
  await assert.rejects(session.query('crash'), failsWith('CLUSTER_FAILED', /WASM trapped/));
  await waiting;
  assert.equal(told.length, 1);
});

test('the line is closed by the other side: pending calls reject', async () => {
  const { port1, port2 } = new MessageChannel();
  const opening = assert.rejects(connectCluster(port2), failsWith('CLUSTER_FAILED', /line .* closed/));
  port1.close();
  await opening;
});

test('answers to calls that were given up are dropped', async () => {
  const { port1, port2 } = new MessageChannel();
  const line = fromEventTarget<FromServer, ToServer>(port1);
  line.onMessage((message) => {
    if (message.type !== 'hello') return;
    line.postMessage({
      type: 'refused',
      id: 999,
      error: { kind: 'other', name: 'Error', message: 'late', stack: null, cause: null },
    });
    line.postMessage({
      type: 'done',
      id: message.id,
      result: { versions: { pglite: null, postgres: '18' }, sessions: [] },
    });
    line.postMessage({ type: 'done', id: message.id, result: null });
  });
  const remote = await connectCluster(port2);
  assert.equal(remote.versions.postgres, '18');
  port1.close();
});

test('close closes the cluster for everybody, and once', async (context) => {
  const { cluster, remote, session } = await pair(context);
  const told: EngineError[] = [];
  remote.onFailure((error) => told.push(error));
  await remote.close();
  await remote.close();
  assert.ok(cluster.closed);
  await assert.rejects(session.query('SELECT'), failsWith('CLUSTER_CLOSED'));
  assert.deepEqual(told, []);
});
