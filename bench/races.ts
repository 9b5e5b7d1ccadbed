/** What a race on the virtual clock costs, beside the same cell on a native server. */
import { openCluster } from '../src/engine/index.ts';
import type { Cluster } from '../src/engine/types.ts';
import { openNativeCluster } from '../src/native/cluster.ts';
import { findCell, type FoundCell } from '../src/runner/node/findCell.ts';
import { runCell } from '../src/runner/node/runCell.ts';
import { startNativeServer } from '../test/native/server.ts';
import { median, type Finding } from './report.ts';

const RUNS = 5;
const CELLS = ['01-the-sale/naive', '06-the-hot-row/optimistic', '04-lock-order/unsorted'];
/** Of issue to answer, on the virtual clock with 8 sessions. */
const STATEMENT_BUDGET_MS = 0.4;

export async function benchRaces(): Promise<Finding[]> {
  const cells = await Promise.all(CELLS.map(findCell));
  const virtual: Finding[] = [];
  for (const cell of cells) virtual.push(...(await benchVirtual(cell)));
  return [...virtual, ...(await benchNative(cells))];
}

interface Cost {
  readonly wallMs: number;
  readonly statements: number;
}

async function cost(cluster: Cluster, cell: FoundCell, seed: number): Promise<Cost> {
  const { events, wallMs, error } = await runCell(cluster, cell, { seed });
  if (error !== null) throw error;
  return { wallMs, statements: events.filter(({ type }) => type === 'query-sent').length };
}

async function costs(cluster: Cluster, cell: FoundCell): Promise<Cost[]> {
  const all: Cost[] = [];
  for (let run = 0; run <= RUNS; run++) all.push(await cost(cluster, cell, 1));
  await cluster.close();
  // The first one warms up.
  return all.slice(1);
}

async function benchVirtual(cell: FoundCell): Promise<Finding[]> {
  const { connections: sessions, settings = {} } = cell.spec;
  const all = await costs(await openCluster({ sessions, settings, clock: 'virtual' }), cell);
  const perStatement = median(all.map(({ wallMs, statements }) => wallMs / statements));
  return [
    { what: `${cell.id}: virtual clock`, value: median(all.map(({ wallMs }) => wallMs)), unit: 'ms' },
    { what: `${cell.id}: a statement`, value: perStatement, unit: 'ms', budget: STATEMENT_BUDGET_MS },
  ];
}

async function benchNative(cells: readonly FoundCell[]): Promise<Finding[]> {
  const server = await startNativeServer();
  if (server.kind === 'missing') return [];
  const findings: Finding[] = [];
  for (const cell of cells) {
    const settings = { deadlock_timeout: '20ms' };
    const cluster = await openNativeCluster({ sessions: cell.spec.connections, settings, url: server.url });
    const all = await costs(cluster, cell);
    const value = median(all.map(({ wallMs, statements }) => wallMs / statements));
    findings.push({ what: `${cell.id}: a statement, native, real clock`, value, unit: 'ms' });
  }
  await server.stop();
  return findings;
}
