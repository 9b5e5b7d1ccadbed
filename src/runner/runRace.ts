/** A runner on this browser's workers. Importing it loads the engine's client, but no WASM yet. */
import { startClusterWorker } from '../engine/client.ts';
import { RaceRunner } from './RaceRunner.ts';

export { isBusy, type RaceRunner, type RaceState } from './RaceRunner.ts';

export function createRaceRunner(): RaceRunner {
  return new RaceRunner({
    startCluster: startClusterWorker,
    spawnCell: () => new Worker(new URL('./race-worker.ts', import.meta.url), { type: 'module' }),
  });
}
