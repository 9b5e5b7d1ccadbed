/** A cluster in a thread of its own that is ended, or dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startCluster, type ClusterHandle } from '../../src/engine/handle.ts';
import { startClusterThread, threadOf } from '../../src/engine/nodeClient.ts';
import type { EngineError } from '../../src/engine/errors.ts';
import { fails, isUsable, pairOf, pause, within } from './support.ts';

const COMPUTES = 'select count(*) from generate_series(1, 1000000000)';

async function startAnew(): Promise<void> {
  const handle = await within(startClusterThread({ sessions: 2 }));
  await isUsable(handle);
  await handle.close();
}

/** One statement that computes, one queued behind it, one in the other session, and a look. */
function makePending(handle: ClusterHandle): Promise<unknown>[] {
  const [a, b] = pairOf(handle);
  return [a.query(COMPUTES), a.query('select 1'), b.query('select 1'), handle.waits()];
}

test('a statement that computes is ended by terminate(): all calls reject, a new cluster works', async () => {
  const handle = await startClusterThread({ sessions: 2 });
  const pending = makePending(handle);
  await pause(200);
  handle.terminate();
  for (const call of pending) await fails(call, 'CLUSTER_FAILED', /was ended/);
  await fails(handle.reset(), 'CLUSTER_FAILED');
  await handle.close();
  await startAnew();
});

test('a thread that dies in mid-statement: all calls reject, and a listener is told', async () => {
  const worker = new Worker(new URL('../../src/engine/nodeWorker.ts', import.meta.url));
  const handle = await startCluster(threadOf(worker), null, { sessions: 2 });
  const told = new Promise<EngineError>((resolve) => handle.onFailure(resolve));
  const pending = makePending(handle);
  await pause(200);
  void worker.terminate();
  for (const call of pending) await fails(call, 'CLUSTER_FAILED', /thread died/);
  assert.equal((await within(told)).code, 'CLUSTER_FAILED');
  await startAnew();
});

test('a session that dies inside Postgres takes its thread with it', async () => {
  const handle = await startClusterThread({ sessions: 2 });
  const told = new Promise<EngineError>((resolve) => handle.onFailure(resolve));
  const [a, b] = pairOf(handle);
  await fails(a.query(`select 1${'+1'.repeat(10_000)}`), 'CLUSTER_FAILED', /stack is exhausted/);
  await fails(b.query('select 1'), 'CLUSTER_FAILED');
  assert.match((await within(told)).message, /stack is exhausted/);
  await startAnew();
});

test('a cluster that cannot be opened in a thread says why', async () => {
  await fails(
    startClusterThread({ sessions: 2, settings: { no_such_setting: '1' } }),
    'CLUSTER_FAILED',
    /unrecognized configuration parameter "no_such_setting"/,
  );
  await fails(startClusterThread({ sessions: 41 }), 'BAD_ARGUMENT', /1 to 40/);
});
