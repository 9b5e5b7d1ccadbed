/** The same seed gives the same run: first or tenth, in this cluster or a fresh one, by time or by its choices. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { openCluster } from '../../src/engine/index.ts';
import { scriptedPolicy } from '../../src/engine/schedule.ts';
import type { Cluster } from '../../src/engine/types.ts';
import { hashLog } from '../../src/events/hashLog.ts';
import { findCells, type FoundCell } from '../../src/runner/node/findCell.ts';
import { runCell, type RunOptions } from '../../src/runner/node/runCell.ts';

const SEED = 1;
/** Runs of one cluster between the first that is compared and the last. */
const RUNS = 10;

async function open({ spec }: FoundCell): Promise<Cluster> {
  return openCluster({ sessions: spec.connections, settings: spec.settings ?? {}, clock: 'virtual' });
}

async function hashOf(cluster: Cluster, cell: FoundCell, options: RunOptions = { seed: SEED }): Promise<string> {
  const { events, error } = await runCell(cluster, cell, options);
  assert.equal(error, null);
  return hashLog(events);
}

for (const cell of await findCells()) {
  describe(cell.id, () => {
    const opened = open(cell);
    after(async () => (await opened).close());
    let first = '';

    test('a fresh cluster gives the same log', async () => {
      first = await hashOf(await opened, cell);
      const fresh = await open(cell);
      const second = await hashOf(fresh, cell);
      await fresh.close();
      assert.equal(second, first);
    });

    test('another seed gives another log, and leaves no trace', async () => {
      const cluster = await opened;
      assert.notEqual(await hashOf(cluster, cell, { seed: SEED + 1 }), first);
      assert.equal(await hashOf(cluster, cell), first);
    });

    test('its choices alone repeat it', async () => {
      const cluster = await opened;
      const { choices, events } = await runCell(cluster, cell, { seed: SEED });
      assert.equal(hashLog(events), first);
      assert.equal(await hashOf(cluster, cell, { seed: SEED, policy: scriptedPolicy(choices) }), first);
    });
  });
}

/** Threads that compute without end: the machine is slow and uneven. */
function burden(threads: number): () => Promise<unknown> {
  const workers = Array.from({ length: threads }, () => new Worker('for (;;);', { eval: true }));
  return () => Promise.all(workers.map((worker) => worker.terminate()));
}

describe('many runs', () => {
  test('a machine under load gives the same log', async () => {
    const [cell] = await findCells();
    assert.ok(cell);
    const cluster = await open(cell);
    const first = await hashOf(cluster, cell);
    const relieve = burden(4);
    for (let run = 0; run < 3; run++) assert.equal(await hashOf(cluster, cell), first);
    await relieve();
    await cluster.close();
  });

  test(`run ${RUNS} of a cluster equals its first`, async () => {
    const [cell] = await findCells();
    assert.ok(cell);
    const cluster = await open(cell);
    const first = await hashOf(cluster, cell);
    for (let run = 2; run < RUNS; run++) await hashOf(cluster, cell, { seed: run });
    assert.equal(await hashOf(cluster, cell), first);
    await cluster.close();
  });
});
