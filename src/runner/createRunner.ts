/** A runner on this browser's workers. Importing it loads the engine's client, but no WASM yet. */
import { startClusterWorker } from '../engine/client.ts';
import { CellRunner } from './CellRunner.ts';

export { planRun } from './planRun.ts';
export { runToEnd } from './runToEnd.ts';
export type { CellRunner } from './CellRunner.ts';

export function createRunner(): CellRunner {
  return new CellRunner({
    startCluster: startClusterWorker,
    spawnCell: () => new Worker(new URL('./cellWorker.ts', import.meta.url), { type: 'module' }),
  });
}
