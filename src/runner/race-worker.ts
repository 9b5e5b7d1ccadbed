/**
 * The cell worker: runs one race of one cell against the cluster behind a port, then waits to be ended.
 * An endless loop in a cell blocks this thread and no other.
 */
import { connectCluster } from '../engine/remote.ts';
import { race, type RaceCell } from '../lab/index.ts';
import { packRunError } from './packRunError.ts';
import type { CellMessage, StartRace } from './protocol.ts';

const cells = import.meta.glob<RaceCell>('../lessons/*/cells/*.ts');

addEventListener('message', (event: MessageEvent<StartRace>) => void run(event.data), { once: true });

async function run({ cell, plan, port }: StartRace): Promise<void> {
  try {
    const [cluster, module] = await Promise.all([connectCluster(port), loadCell(cell)]);
    post({ type: 'started' });
    const outcome = await race(cluster.sessions, module, plan, (tally) => post({ type: 'progress', tally }));
    post({ type: 'done', outcome });
  } catch (error) {
    post({ type: 'failed', error: packRunError(error, 'code') });
  }
}

function loadCell(cell: string): Promise<RaceCell> {
  const load = cells[`../lessons/${cell.replace('/', '/cells/')}.ts`];
  if (load === undefined) throw new Error(`There is no cell "${cell}"; the site has ${Object.keys(cells).join(', ')}.`);
  return load();
}

function post(message: CellMessage): void {
  postMessage(message);
}
