import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { DatabaseError } from './errors.ts';
import { fromEventTarget } from './port.ts';
import { connectCluster } from './remote.ts';
import { ClusterServer } from './serve.ts';
import { FakeCluster, until } from './testing/fakeCluster.ts';
import type { EngineError } from './errors.ts';
import type { FromServer, ToServer } from './protocol.ts';
import type { RemoteCluster } from './remote.ts';
import type { Session } from './types.ts';

const ROLL_BACK = 'ROLLBACK; SELECT pg_advisory_unlock_all()';

interface Served {
  readonly cluster: FakeCluster;
  readonly server: ClusterServer;
  connect(): Promise<{ remote: RemoteCluster; port: MessagePort; first: Session }>;
}

function serve(context: TestContext): Served {
  const cluster = new FakeCluster();
  const server = ClusterServer.of(cluster);
  context.after(() => server.dispose());
  const connect: Served['connect'] = async () => {
    const { port1, port2 } = new MessageChannel();
    server.serve(fromEventTarget<FromServer, ToServer>(port1));
    const remote = await connectCluster(port2);
    const [first] = remote.sessions;
    assert.ok(first !== undefined);
    return { remote, port: port2, first };
  };
  return { cluster, server, connect };
}

/** The client's call never settles, or rejects because its line is gone: either is fine. */
const abandon = (call: Promise<unknown>): void => void call.catch(() => undefined);

test('two clients share the sessions, each with its own answers', async (context) => {
  const { connect } = serve(context);
  const [page, cell] = [await connect(), await connect()];
  const answers = await Promise.all([page.first.query('page'), cell.first.query('cell'), page.first.query('page 2')]);
  assert.deepEqual(
    answers.map(({ rows }) => rows[0]?.['text']),
    ['page', 'cell', 'page 2'],
  );
});

test('a client that closes its port while it waits: cancelled, its queue dropped, rolled back', async (context) => {
  const { cluster, connect } = serve(context);
  const [page, cell] = [await connect(), await connect()];
  const session = cluster.session(0);
  const notices: string[] = [];
  page.first.onNotice((notice) => notices.push(notice.message));
  abandon(cell.first.query('BEGIN'));
  abandon(cell.first.query('wait'));
  abandon(cell.first.query('never'));
  await until(() => session.state === 'waiting');
  cell.port.close();
  await until(() => session.ran.length === 3);
  assert.deepEqual(session.ran, ['BEGIN', 'wait', ROLL_BACK]);
  await page.first.query('next');
  assert.deepEqual(notices, []);
});

test('a statement of another client that was queued behind it runs after the roll-back', async (context) => {
  const { cluster, connect } = serve(context);
  const [page, cell] = [await connect(), await connect()];
  abandon(cell.first.query('wait'));
  await until(() => cluster.session(0).state === 'waiting');
  const next = page.first.query('next');
  await page.remote.waits();
  cell.port.close();
  await next;
  assert.deepEqual(cluster.session(0).ran, ['wait', ROLL_BACK, 'next']);
});

test('goodbye does the same, and only to sessions which that client used', async (context) => {
  const { cluster, connect } = serve(context);
  const [page, cell] = [await connect(), await connect()];
  await page.remote.sessions[1]?.query('mine');
  await cell.first.query('BEGIN');
  cell.remote.disconnect();
  await until(() => cluster.session(0).ran.length === 2);
  assert.deepEqual(cluster.session(0).ran, ['BEGIN', ROLL_BACK]);
  assert.deepEqual(cluster.session(1).ran, ['mine']);
  assert.ok(!cluster.closed);
  await assert.rejects(cell.first.query('late'), { code: 'CLUSTER_CLOSED' });
});

test('a cancel that comes too early is repeated', async (context) => {
  const { cluster, connect } = serve(context);
  const cell = await connect();
  const session = cluster.session(0);
  const cancel = context.mock.method(session, 'cancel', () => false, { times: 2 });
  abandon(cell.first.query('wait'));
  await until(() => session.state === 'waiting');
  cell.port.close();
  await until(() => session.ran.length === 2);
  // The mock has stepped aside for the third cancel, which reached the session.
  assert.equal(cancel.mock.callCount(), 2);
});

test('a cancel that hits the roll-back does not leave a transaction open', async (context) => {
  const { cluster, connect } = serve(context);
  const cell = await connect();
  const session = cluster.session(0);
  await cell.first.query('BEGIN');
  const late = new DatabaseError('canceling statement due to user request', { code: '57014' });
  const exec = context.mock.method(session, 'exec', () => Promise.reject(late), { times: 1 });
  cell.port.close();
  await until(() => session.ran.includes(ROLL_BACK));
  assert.equal(exec.mock.callCount(), 1);
});

test('a failure reaches every client', async (context) => {
  const { server, connect } = serve(context);
  const [page, cell] = [await connect(), await connect()];
  const waiting = assert.rejects(page.first.query('wait'), { code: 'CLUSTER_FAILED', message: /died: memory access/ });
  const told = new Promise<EngineError>((resolve) => cell.remote.onFailure(resolve));
  server.fail(new WebAssembly.RuntimeError('memory access out of bounds'));
  await waiting;
  assert.equal((await told).code, 'CLUSTER_FAILED');
});

test('a client that comes after the failure is told', async (context) => {
  const { server, connect } = serve(context);
  server.fail(new Error('trap'));
  await assert.rejects(connect(), { code: 'CLUSTER_FAILED' });
});

test('a session that does not exist is refused', async (context) => {
  const { connect } = serve(context);
  const { remote } = await connect();
  await assert.rejects(remote.cancel({ index: 9 } as Session), {
    code: 'BAD_ARGUMENT',
    message: /no session 9: .* 0 to 2/,
  });
});
