/** Opens a cluster in this thread, from assets that it finds by itself. */
import type * as nodeAssets from './assets/node.ts';
import type { EngineAssets } from './assets/types.ts';
import { openClusterFrom, type OpenOptions } from './cluster.ts';
import { EngineError } from './errors.ts';
import type { Cluster } from './types.ts';

/**
 * Opens a cluster of real Postgres sessions in this thread.
 *
 * In Node the assets are made on first use. In a browser pass them (see
 * `fetchAssets`), or have `startClusterWorker` do it all in a worker.
 *
 * @throws EngineError UNSUPPORTED_RUNTIME, BAD_ARGUMENT, INCOMPATIBLE_PGLITE,
 *   ASSETS_UNAVAILABLE or CLUSTER_FAILED.
 */
export async function openCluster(options: OpenOptions & { readonly assets?: EngineAssets }): Promise<Cluster> {
  return openClusterFrom(options.assets ?? (await findAssets()), options);
}

async function findAssets(): Promise<EngineAssets> {
  if (!('process' in globalThis)) {
    throw new EngineError(
      'ASSETS_UNAVAILABLE',
      'A browser has to be given the assets: call startClusterWorker(), or pass `assets`.',
    );
  }
  // Not to be found by a bundler: it is Node's.
  const url = new URL('./assets/node.ts', import.meta.url).href;
  const { loadAssets } = (await import(/* @vite-ignore */ url)) as typeof nodeAssets;
  return loadAssets();
}
