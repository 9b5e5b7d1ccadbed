import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterHandle, StartOptions } from '../engine/handle.ts';
import { ClusterKeeper, type Wanted } from './keepCluster.ts';

const BOUND = 20;
const noProgress = (): void => undefined;
const eight: Wanted = { sessions: 8, settings: {} };

/** Notes how often clusters boot and end; their reset takes as long as the test says. */
function harness(reset: () => Promise<void>) {
  const boots: StartOptions[] = [];
  const counts = { ended: 0 };
  const cluster: Partial<ClusterHandle> = { reset, terminate: () => (counts.ended += 1), onFailure: () => noProgress };
  const start = (options: StartOptions): Promise<ClusterHandle> => {
    boots.push(options);
    return Promise.resolve({ ...cluster } as ClusterHandle);
  };
  return { keeper: new ClusterKeeper(start, BOUND), boots, counts };
}

test('a cluster that cannot be reset in time is ended, and the next run gets another', async () => {
  const { keeper, boots, counts } = harness(() => new Promise(() => undefined));
  const first = await keeper.acquire(eight, noProgress);
  keeper.release();
  const second = await keeper.acquire(eight, noProgress);
  assert.notEqual(first, second);
  assert.deepEqual({ booted: boots.length, ...counts }, { booted: 2, ended: 1 });
});

test('other settings need another cluster, the same ones do not', async () => {
  const { keeper, boots, counts } = harness(() => Promise.resolve());
  const settings = { deadlock_timeout: '200ms' };
  await keeper.acquire(eight, noProgress);
  await keeper.acquire({ sessions: 8, settings }, noProgress);
  await keeper.acquire({ sessions: 8, settings: { ...settings } }, noProgress);
  assert.deepEqual({ booted: boots.length, ...counts }, { booted: 2, ended: 1 });
  assert.deepEqual(boots[1]?.settings, settings);
  assert.equal(boots[1]?.clock, 'virtual');
});
