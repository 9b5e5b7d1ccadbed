import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterHandle } from '../engine/handle.ts';
import { ClusterKeeper } from './keepCluster.ts';

const BOUND = 20;
const noProgress = (): void => undefined;

/** Clusters whose statement computes for ever: they never let go of a port, never reset. */
function stuckCluster(ended: () => void): ClusterHandle {
  const never = (): Promise<void> => new Promise(() => undefined);
  const cluster: Partial<ClusterHandle> = {
    dropPort: never,
    reset: never,
    terminate: ended,
    onFailure: () => noProgress,
  };
  return cluster as ClusterHandle;
}

test('a cluster that does not let go in time is ended, and the next run gets another', async () => {
  let booted = 0;
  let ended = 0;
  const start = (): Promise<ClusterHandle> => {
    booted += 1;
    return Promise.resolve(stuckCluster(() => (ended += 1)));
  };
  const keeper = new ClusterKeeper(start, BOUND);
  const first = await keeper.acquire(8, noProgress);
  keeper.release({} as MessagePort);
  const second = await keeper.acquire(8, noProgress);
  assert.notEqual(first, second);
  assert.deepEqual({ booted, ended }, { booted: 2, ended: 1 });
});
