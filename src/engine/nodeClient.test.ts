import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startCluster } from './handle.ts';
import { threadOf } from './nodeClient.ts';
import { connectCluster } from './remote.ts';
import type { ClusterHandle } from './handle.ts';
import type { EngineError } from './errors.ts';
import type { Cluster, Session } from './types.ts';

function start(settings: Record<string, string> = {}): Promise<ClusterHandle> {
  const worker = new Worker(new URL('./testing/fakeWorker.ts', import.meta.url));
  return startCluster(threadOf(worker), null, { sessions: 2, settings });
}

function firstOf({ sessions }: Cluster): Session {
  const [session] = sessions;
  assert.ok(session !== undefined);
  return session;
}

test('a statement in another thread', async () => {
  const handle = await start();
  const { rows } = await firstOf(handle).query('SELECT', [new Date(0)]);
  assert.deepEqual(rows, [{ text: 'SELECT', values: [new Date(0)] }]);
  await handle.close();
});

test('terminate ends a statement that computes; all pending calls reject at once', async () => {
  const handle = await start();
  const pending = [firstOf(handle).query('spin'), handle.waits()];
  handle.terminate();
  for (const call of pending) await assert.rejects(call, { code: 'CLUSTER_FAILED', message: /was ended/ });
});

test('a client in a further thread is rejected, too, when the cluster is terminated', async () => {
  const handle = await start();
  const cell = await connectCluster(handle.newPort());
  const told = new Promise<EngineError>((resolve) => cell.onFailure(resolve));
  const waiting = assert.rejects(firstOf(cell).query('wait'), { code: 'CLUSTER_FAILED', message: /line .* closed/ });
  handle.terminate();
  await waiting;
  assert.equal((await told).code, 'CLUSTER_FAILED');
});

test('a thread that exits by itself is a failure', async () => {
  const handle = await start({ exit: 'soon' });
  const told = new Promise<EngineError>((resolve) => handle.onFailure(resolve));
  await assert.rejects(firstOf(handle).query('wait'), { code: 'CLUSTER_FAILED', message: /exit code 3/ });
  assert.match((await told).message, /exit code 3/);
});

test('a rejection in the thread that nobody handles is a failure', async () => {
  const handle = await start({ stray: 'soon' });
  await assert.rejects(firstOf(handle).query('wait'), { code: 'CLUSTER_FAILED', message: /stray rejection/ });
});
