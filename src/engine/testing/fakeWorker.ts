/** A worker thread that serves a fake cluster. The settings say how it misbehaves. */
import { parentPort } from 'node:worker_threads';
import { hostCluster } from '../host.ts';
import { fromNodeEmitter } from '../port.ts';
import { FakeCluster } from './fakeCluster.ts';

if (parentPort === null) throw new Error('fakeWorker.ts runs in a worker thread.');

hostCluster(fromNodeEmitter(parentPort), async ({ sessions, settings }) => {
  if (settings['exit'] === 'soon') setTimeout(() => process.exit(3), 50);
  if (settings['stray'] === 'soon') setTimeout(() => void Promise.reject(new Error('stray rejection')), 50);
  return new FakeCluster(sessions);
});
