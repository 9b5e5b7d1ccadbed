/** The page's side: a cluster in a module worker. */
import { assetUrls } from './assets/urls.ts';
import { EngineError } from './errors.ts';
import { startCluster } from './handle.ts';
import { fromEventTarget } from './port.ts';
import { requireJspi } from './support.ts';
import type { ClusterHandle, ClusterThread, StartOptions } from './handle.ts';

export type { ClusterHandle, StartOptions } from './handle.ts';
export type { LoadProgress } from './protocol.ts';

/**
 * Fetches the engine's files, boots that many sessions and resolves when all take statements.
 *
 * @throws EngineError `UNSUPPORTED_RUNTIME` without JSPI, `ASSETS_UNAVAILABLE` when a file cannot be
 *   fetched; the signal's reason when it is aborted.
 */
export async function startClusterWorker(options: StartOptions): Promise<ClusterHandle> {
  requireJspi();
  options.signal?.throwIfAborted();
  return startCluster(startThread(), assetUrls(), options);
}

function startThread(): ClusterThread {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  return {
    port: fromEventTarget(worker),
    end: () => worker.terminate(),
    onDeath(listener) {
      worker.addEventListener('error', (event) => listener(explainDeath(event.message)));
      worker.addEventListener('messageerror', () => listener(explainDeath('it sent what cannot be read')));
    },
  };
}

/** The event of a script that could not be loaded has no message. */
function explainDeath(reason: string | undefined): EngineError {
  if (reason === undefined || reason === '') {
    return new EngineError(
      'ASSETS_UNAVAILABLE',
      "The cluster's worker could not be loaded. Check the connection and try again.",
    );
  }
  return new EngineError('CLUSTER_FAILED', `The cluster's worker died: ${reason}. Start a new one.`);
}
