/** What the tests of faults share: bounds, expectations, and assets whose store can be made to fail. */
import assert from 'node:assert/strict';
import { loadAssets } from '../../src/engine/assets/node.ts';
import { openClusterFrom, type EngineAssets, type OpenOptions } from '../../src/engine/index.ts';
import type { Cluster, Session } from '../../src/engine/types.ts';

export const MIB = 1 << 20;
/** No fault may take longer to be reported. */
export const BOUND_MS = 20_000;

export const open = async (options: OpenOptions): ReturnType<typeof openClusterFrom> =>
  openClusterFrom(await loadAssets(), options);

/** Opens a cluster for the time of `use`. */
export async function withCluster(
  options: OpenOptions,
  use: (cluster: Cluster, a: Session, b: Session) => Promise<void>,
): Promise<void> {
  const cluster = await open(options);
  try {
    await use(cluster, ...pairOf(cluster));
  } finally {
    await cluster.close();
  }
}

export function pairOf({ sessions }: Cluster): [Session, Session] {
  const [a, b = a] = sessions;
  assert.ok(a !== undefined && b !== undefined);
  return [a, b];
}

/** Rejects when `promise` settles too late. */
export async function within<T>(promise: Promise<T>, boundMs = BOUND_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing happened for ${boundMs} ms`)), boundMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Awaits a rejection with this code, within the bound. */
export async function fails(promise: Promise<unknown>, code: string, message = /./): Promise<void> {
  await assert.rejects(within(promise), { code, message });
}

/** Makes the cluster as new and works with it. */
export async function isUsable(cluster: Cluster): Promise<void> {
  await within(cluster.reset());
  const [a, b] = pairOf(cluster);
  await within(a.exec('create table usable (n int); insert into usable values (1)'));
  const { rows } = await within(b.query('select n from usable'));
  assert.deepEqual(rows, [{ n: 1 }]);
}

export async function untilWaiting(session: Session): Promise<void> {
  for (let tries = 0; session.state !== 'waiting'; tries++) {
    assert.ok(tries < 2000, `session ${session.index} does not wait: it is ${session.state}`);
    await pause(1);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Assets whose store throws a plain error at each read while `fault.armed`: a hook that is broken. */
export async function brokenAssets(): Promise<{ assets: EngineAssets; fault: { armed: boolean } }> {
  const assets = await loadAssets();
  const fault = { armed: false };
  const image: EngineAssets['store'] = Object.create(assets.store, {
    open: {
      value: (options: Parameters<EngineAssets['store']['open']>[0]) => {
        const store = assets.store.open(options);
        const read = store.read.bind(store);
        store.read = (...args) => {
          if (fault.armed) throw new Error('the hook is broken');
          return read(...args);
        };
        return store;
      },
    },
  }) as EngineAssets['store'];
  return { assets: { ...assets, store: image }, fault };
}
