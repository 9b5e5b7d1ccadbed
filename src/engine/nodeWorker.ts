/** The cluster's worker in Node. */
import { parentPort } from 'node:worker_threads';
import { loadAssets } from './assets/node.ts';
import { openClusterFrom } from './cluster.ts';
import { hostCluster } from './host.ts';
import { fromNodeEmitter } from './port.ts';

if (parentPort === null) throw new Error('nodeWorker.ts runs in a worker thread; call startClusterThread().');

// Node reports an error that nothing has caught to the parent, as the worker's `error` event.
hostCluster(fromNodeEmitter(parentPort), async ({ sessions, settings, clock }) =>
  openClusterFrom(await loadAssets(), { sessions, settings, clock }),
);
