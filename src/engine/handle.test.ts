import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from './errors.ts';
import { startCluster } from './handle.ts';
import { hostCluster } from './host.ts';
import { fromEventTarget } from './port.ts';
import { connectCluster } from './remote.ts';
import { FakeCluster, until } from './testing/fakeCluster.ts';
import type { ClusterThread } from './handle.ts';
import type { Host, OpenCluster } from './host.ts';

interface FakeThread extends ClusterThread {
  readonly ended: () => boolean;
  readonly host: Host;
  die(error: EngineError): void;
}

/** A worker in this thread: its end is the end of its line. */
function fakeThread(open: OpenCluster): FakeThread {
  const { port1, port2 } = new MessageChannel();
  let ended = false;
  let die: (error: EngineError) => void = () => undefined;
  const end = (): void => {
    ended = true;
    port1.close();
  };
  return {
    port: fromEventTarget(port2),
    end,
    onDeath: (listener) => void (die = listener),
    ended: () => ended,
    host: hostCluster(fromEventTarget(port1), open),
    die: (error) => die(error),
  };
}

test('a start passes its options on and reports progress', async () => {
  const seen: unknown[] = [];
  const thread = fakeThread(async (args, onProgress) => {
    seen.push(args);
    onProgress({ loaded: 1, total: null });
    return new FakeCluster(args.sessions);
  });
  const options = {
    sessions: 2,
    settings: { work_mem: '1MB' },
    onProgress: (progress: unknown) => seen.push(progress),
  };
  const handle = await startCluster(thread, null, options);
  assert.deepEqual(seen, [
    { urls: null, sessions: 2, settings: { work_mem: '1MB' }, clock: 'real' },
    { loaded: 1, total: null },
  ]);
  assert.equal(handle.sessions.length, 2);
  await handle.close();
  assert.ok(thread.ended());
});

test('a start that fails rejects with the reason, and ends the worker', async () => {
  const thread = fakeThread(async () => {
    throw new EngineError('ASSETS_UNAVAILABLE', 'No store.');
  });
  await assert.rejects(startCluster(thread, null, { sessions: 1 }), {
    code: 'ASSETS_UNAVAILABLE',
    message: 'No store.',
  });
  assert.ok(thread.ended());
});

test('a worker that dies while it starts rejects the start', async () => {
  const thread = fakeThread(() => new Promise(() => undefined));
  const start = startCluster(thread, null, { sessions: 1 });
  thread.die(new EngineError('CLUSTER_FAILED', 'out of memory'));
  await assert.rejects(start, { message: 'out of memory' });
});

test('an error that nothing has caught while it starts rejects the start', async () => {
  const thread = fakeThread(() => new Promise(() => undefined));
  const start = startCluster(thread, null, { sessions: 1 });
  thread.host.fail(new Error('stray'));
  await assert.rejects(start, { code: 'CLUSTER_FAILED', message: /died: stray/ });
});

test('an aborted start rejects with the reason and ends the worker', async () => {
  const thread = fakeThread(() => new Promise(() => undefined));
  const controller = new AbortController();
  const start = startCluster(thread, null, { sessions: 1, signal: controller.signal });
  controller.abort();
  await assert.rejects(start, { name: 'AbortError' });
  assert.ok(thread.ended());
});

test('terminate rejects what is pending at once and is no failure', async () => {
  const thread = fakeThread(async () => new FakeCluster());
  const handle = await startCluster(thread, null, { sessions: 3 });
  const told: EngineError[] = [];
  handle.onFailure((error) => told.push(error));
  const pending = handle.sessions[0]?.query('wait');
  handle.terminate();
  await assert.rejects(pending ?? Promise.resolve(), { code: 'CLUSTER_FAILED' });
  await assert.rejects(handle.waits(), { code: 'CLUSTER_FAILED' });
  assert.throws(() => handle.newPort(), { code: 'CLUSTER_FAILED' });
  assert.deepEqual(told, []);
  assert.ok(thread.ended());
});

test('an uncaught error in an open cluster is a failure, and ends the worker', async () => {
  const thread = fakeThread(async () => new FakeCluster());
  const handle = await startCluster(thread, null, { sessions: 3 });
  const told = new Promise<EngineError>((resolve) => handle.onFailure(resolve));
  thread.host.fail(new Error('stray'));
  assert.match((await told).message, /died: stray/);
  assert.ok(thread.ended());
});

test('a port of the handle connects another client, and can be dropped', async () => {
  const cluster = new FakeCluster();
  const handle = await startCluster(
    fakeThread(async () => cluster),
    null,
    { sessions: 3 },
  );
  const port = handle.newPort();
  const cell = await connectCluster(port);
  const pending = assert.rejects(cell.sessions[0]?.query('wait') ?? Promise.resolve(), { code: 'CLUSTER_FAILED' });
  await until(() => cluster.session(0).state === 'waiting');
  await handle.dropPort(port);
  assert.deepEqual(cluster.session(0).ran, ['wait', 'ROLLBACK; SELECT pg_advisory_unlock_all()']);
  await pending;
  await assert.rejects(handle.dropPort(new MessageChannel().port1), { code: 'BAD_ARGUMENT' });
  await handle.close();
});
