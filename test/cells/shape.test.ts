/** Every cell shows what its lesson says: on the virtual clock with many seeds, and on a native server. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { openCluster } from '../../src/engine/index.ts';
import type { Cluster } from '../../src/engine/types.ts';
import { summarise } from '../../src/events/summary.ts';
import { openNativeCluster } from '../../src/native/cluster.ts';
import { findCells, type FoundCell } from '../../src/runner/node/findCell.ts';
import { runCell } from '../../src/runner/node/runCell.ts';
import { startNativeServer } from '../native/server.ts';
import { assertShape } from './shape.ts';

const SEEDS = 5;

async function check(cluster: Cluster, cell: FoundCell, seed: number, exact: boolean): Promise<void> {
  const { events, wallMs, error } = await runCell(cluster, cell, { seed });
  assert.equal(error, null);
  assertShape(cell.spec.shape, summarise(events, wallMs), events, exact);
}

const cells = await findCells();

for (const cell of cells) {
  const { connections: sessions, settings = {} } = cell.spec;
  test(`${cell.id} on the virtual clock, seeds 1 to ${SEEDS}`, async () => {
    const cluster = await openCluster({ sessions, settings, clock: 'virtual' });
    for (let seed = 1; seed <= SEEDS; seed++) await check(cluster, cell, seed, true);
    await cluster.close();
  });
}

const server = await startNativeServer();
/** A second per deadlock would take minutes; a shorter timeout changes how long they last, not that they come. */
const FAST_DEADLOCKS = { deadlock_timeout: '20ms' };

describe('on native PostgreSQL', () => {
  if (server.kind === 'missing') {
    test('server', { skip: process.env['CI'] ? false : `skipped: no server (${server.reason})` }, () => {
      throw new Error(`expected a PostgreSQL server in CI, found none: ${server.reason}`);
    });
    return;
  }
  after(server.stop);
  for (const cell of cells) {
    test(cell.id, async () => {
      const settings = { ...FAST_DEADLOCKS, ...cell.spec.settings };
      const cluster = await openNativeCluster({ sessions: cell.spec.connections, settings, url: server.url });
      await check(cluster, cell, 1, false);
      await cluster.close();
    });
  }
});
