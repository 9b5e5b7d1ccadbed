import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterHandle, StartOptions } from '../engine/handle.ts';
import { EngineError } from '../engine/errors.ts';
import type { RaceOutcome } from '../lab/index.ts';
import { RaceRunner, type CellWorker, type RaceRun, type RaceState } from './RaceRunner.ts';
import type { CellMessage } from './protocol.ts';

const run: RaceRun = { cell: '01-the-sale/naive', plan: { attempts: 2, buyers: 1, tally: 'SELECT' }, sessions: 8 };
const outcome: RaceOutcome = {
  stockBefore: 100,
  stock: 99,
  orders: 200,
  attempts: 200,
  errors: 0,
  firstError: null,
  milliseconds: 800,
};

/** A cell's worker that says what the test has it say. */
class FakeCell extends EventTarget {
  ended = false;

  postMessage(): void {
    // The test answers in its stead.
  }

  terminate(): void {
    this.ended = true;
  }

  say(data: CellMessage): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
}

/** A cluster that notes what is asked of it. */
class FakeCluster {
  readonly calls: string[] = [];
  readonly sessions: readonly unknown[];
  readonly versions = { pglite: '0.5.17', postgres: '18.0' };
  #onFailure: ((error: EngineError) => void)[] = [];
  resetTakes: Promise<void> = Promise.resolve();

  constructor(sessions: number) {
    this.sessions = Array.from({ length: sessions });
  }

  newPort(): MessagePort {
    this.calls.push('newPort');
    return {} as MessagePort;
  }

  dropPort(): Promise<void> {
    this.calls.push('dropPort');
    return Promise.resolve();
  }

  reset(): Promise<void> {
    this.calls.push('reset');
    return this.resetTakes;
  }

  terminate(): void {
    this.calls.push('terminate');
  }

  onFailure(listener: (error: EngineError) => void): () => void {
    this.#onFailure.push(listener);
    return () => {
      this.#onFailure = this.#onFailure.filter((other) => other !== listener);
    };
  }

  fail(error: EngineError): void {
    for (const listener of this.#onFailure) listener(error);
  }
}

function harness() {
  const clusters: FakeCluster[] = [];
  const cells: FakeCell[] = [];
  const states: RaceState[] = [];
  const boots: { options: StartOptions; resolve: () => void; reject: (error: Error) => void }[] = [];
  const runner = new RaceRunner({
    startCluster: (options) =>
      new Promise<ClusterHandle>((resolve, reject) => {
        options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
        const finish = (): void => {
          const cluster = new FakeCluster(options.sessions);
          clusters.push(cluster);
          resolve(cluster as unknown as ClusterHandle);
        };
        boots.push({ options, resolve: finish, reject });
      }),
    spawnCell: () => {
      const cell = new FakeCell();
      cells.push(cell);
      return cell as unknown as CellWorker;
    },
  });
  runner.subscribe((state) => states.push(state));
  return { runner, clusters, cells, states, boots };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function startAndBoot(world: ReturnType<typeof harness>): Promise<void> {
  world.runner.start(run);
  await settled();
  world.boots.at(-1)?.resolve();
  await settled();
}

test('a run goes from booting through running to done, and leaves no cell worker', async () => {
  const world = harness();
  world.runner.start(run);
  await settled();
  world.boots[0]?.options.onProgress?.({ loaded: 1, total: 4 });
  world.boots[0]?.resolve();
  await settled();
  const tally = { stock: 99, orders: 8, attempts: 8, errors: 0 };
  world.cells[0]?.say({ type: 'started' });
  world.cells[0]?.say({ type: 'progress', tally });
  world.cells[0]?.say({ type: 'done', outcome });
  await settled();
  assert.deepEqual(world.states, [
    { type: 'booting', progress: null },
    { type: 'booting', progress: { loaded: 1, total: 4 } },
    { type: 'running', tally: null },
    { type: 'running', tally },
    { type: 'done', outcome, sessions: 8, versions: { pglite: '0.5.17', postgres: '18.0' } },
  ]);
  assert.equal(world.cells[0]?.ended, true);
  assert.deepEqual(world.clusters[0]?.calls, ['newPort', 'dropPort']);
});

test('the next run resets the cluster and keeps it', async () => {
  const world = harness();
  await startAndBoot(world);
  world.cells[0]?.say({ type: 'done', outcome });
  await settled();
  world.runner.start(run);
  await settled();
  assert.equal(world.boots.length, 1);
  assert.equal(world.cells.length, 2);
  assert.deepEqual(world.clusters[0]?.calls, ['newPort', 'dropPort', 'reset', 'newPort']);
});

test('another number of sessions needs another cluster; the old one is ended', async () => {
  const world = harness();
  await startAndBoot(world);
  world.cells[0]?.say({ type: 'done', outcome });
  await settled();
  world.runner.start({ ...run, sessions: 2 });
  await settled();
  assert.deepEqual(world.clusters[0]?.calls.at(-1), 'terminate');
  assert.equal(world.boots[1]?.options.sessions, 2);
});

test('Stop ends the cell, drops its port, and what it says later is not heard', async () => {
  const world = harness();
  await startAndBoot(world);
  world.cells[0]?.say({ type: 'started' });
  world.runner.stop();
  world.cells[0]?.say({ type: 'done', outcome });
  await settled();
  assert.equal(world.cells[0]?.ended, true);
  assert.deepEqual(world.clusters[0]?.calls, ['newPort', 'dropPort']);
  assert.equal(world.runner.state.type, 'stopped');
});

test('Stop during the boot gives it up; a second run boots anew', async () => {
  const world = harness();
  world.runner.start(run);
  await settled();
  world.runner.stop();
  await settled();
  assert.equal(world.boots[0]?.options.signal?.aborted, true);
  assert.equal(world.runner.state.type, 'stopped');
  await startAndBoot(world);
  world.cells[0]?.say({ type: 'done', outcome });
  await settled();
  assert.equal(world.boots.length, 2);
  assert.equal(world.runner.state.type, 'done');
});

test('a cluster that dies fails the run and is not used again', async () => {
  const world = harness();
  await startAndBoot(world);
  world.clusters[0]?.fail(new EngineError('CLUSTER_FAILED', 'It died.'));
  await settled();
  assert.deepEqual(world.runner.state, {
    type: 'failed',
    error: { source: 'engine', name: 'EngineError', message: 'It died.', code: 'CLUSTER_FAILED' },
  });
  world.runner.start(run);
  await settled();
  assert.equal(world.boots.length, 2);
});

test('a boot that fails is told and can be tried again', async () => {
  const world = harness();
  world.runner.start(run);
  await settled();
  world.boots[0]?.reject(new EngineError('ASSETS_UNAVAILABLE', 'No file.'));
  await settled();
  assert.equal(world.runner.state.type, 'failed');
  await startAndBoot(world);
  assert.equal(world.boots.length, 2);
  assert.equal(world.cells.length, 1);
});

test('an error of the cell is told as the cell packed it', async () => {
  const world = harness();
  await startAndBoot(world);
  const error = { source: 'code', name: 'TypeError', message: 'x is not a function' } as const;
  world.cells[0]?.say({ type: 'failed', error });
  await settled();
  assert.deepEqual(world.runner.state, { type: 'failed', error });
});

test('a second start while one is under way does nothing', async () => {
  const world = harness();
  await startAndBoot(world);
  world.runner.start(run);
  await settled();
  assert.equal(world.cells.length, 1);
});
