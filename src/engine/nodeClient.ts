/** A cluster in a worker thread of Node: for tests, benchmarks and recorded runs. */
import { Worker } from 'node:worker_threads';
import { EngineError } from './errors.ts';
import { startCluster } from './handle.ts';
import { fromNodeEmitter } from './port.ts';
import { requireJspi } from './support.ts';
import type { ClusterHandle, ClusterThread, StartOptions } from './handle.ts';

/** As `startClusterWorker`, without a page. No progress is reported: the files are local. */
export async function startClusterThread(options: StartOptions): Promise<ClusterHandle> {
  requireJspi();
  options.signal?.throwIfAborted();
  return startCluster(threadOf(new Worker(new URL('./nodeWorker.ts', import.meta.url))), null, options);
}

/** The worker as `startCluster` takes it. */
export function threadOf(worker: Worker): ClusterThread {
  return {
    port: fromNodeEmitter(worker),
    end: () => void worker.terminate(),
    onDeath(listener) {
      worker.on('error', (error: unknown) => listener(explainDeath(error)));
      worker.on('exit', (code) => listener(explainDeath(`it ended with exit code ${code}`)));
    },
  };
}

function explainDeath(reason: unknown): EngineError {
  const text = reason instanceof Error ? reason.message : String(reason);
  return new EngineError('CLUSTER_FAILED', `The cluster's thread died: ${text}. Start a new one.`, { cause: reason });
}
