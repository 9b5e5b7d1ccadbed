import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterHandle, RunHandle, RunListeners, StartOptions } from '../engine/handle.ts';
import { DatabaseError, EngineError } from '../engine/errors.ts';
import { packError } from '../engine/packError.ts';
import type { RunRequest } from '../engine/protocol.ts';
import type { RunResult } from '../engine/virtualRun.ts';
import type { RunEvent } from '../events/events.ts';
import { CellRunner } from './CellRunner.ts';
import type { CellWorker } from './cellThread.ts';
import type { RunPlan } from './plan.ts';
import type { CellReport } from './protocol.ts';
import type { RunState } from './state.ts';

const versions = { pglite: '0.5.17', postgres: '18.7' };
const plan: RunPlan = {
  cell: '01-the-sale/naive',
  seed: 3,
  sessions: 8,
  parameters: { attempts: 2, connections: 8 },
  schema: 'CREATE TABLE product ()',
  tally: 'SELECT',
  settings: {},
};

const nobody = { session: null, customer: null };
const { cell, seed, sessions, parameters } = plan;
const started: RunEvent = {
  type: 'run-started',
  at: 0,
  cell,
  seed,
  clock: 'virtual',
  sessions,
  parameters,
  versions,
  ...nobody,
};
const counted: RunEvent = { type: 'tally', at: 9, stockBefore: 100, stockAfter: 99, sold: 2, extra: {}, ...nobody };
const ended: RunEvent = { type: 'run-ended', at: 9, status: 'done', message: null, ...nobody };

/** A cell's worker that says what the test has it say. */
class FakeCell extends EventTarget {
  ended = false;

  postMessage(): void {
    // The test answers in its stead.
  }

  terminate(): void {
    this.ended = true;
  }

  report(error: unknown): void {
    const data: CellReport = { type: 'ended', error: error === null ? null : packError(error) };
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  die(message: string): void {
    this.dispatchEvent(Object.assign(new Event('error'), { message }));
  }
}

/** A cluster that notes what is asked of it. */
class FakeCluster implements Partial<ClusterHandle> {
  readonly calls: string[] = [];
  readonly versions = versions;
  readonly sessions = [{ exec: (sql: string) => Promise.resolve(void this.calls.push(`exec ${sql}`)) }] as never;
  readonly requests: RunRequest[] = [];
  #onFailure: ((error: EngineError) => void)[] = [];
  #listeners: RunListeners | undefined;
  #result = Promise.withResolvers<RunResult>();

  startRun(request: RunRequest, _port: MessagePort, listeners: RunListeners): RunHandle {
    this.calls.push('startRun');
    this.requests.push(request);
    this.#listeners = listeners;
    this.#result = Promise.withResolvers();
    const stop = (): void => {
      this.calls.push('stop');
      this.end('stopped', 'stopped by the reader');
    };
    return { result: this.#result.promise, choose: () => undefined, stop };
  }

  log(...events: RunEvent[]): void {
    this.#listeners?.onEvents(events);
  }

  end(status: RunResult['status'], message: string | null = null): void {
    this.#result.resolve({ status, message, choices: [] });
  }

  reset(): Promise<void> {
    this.calls.push('reset');
    return Promise.resolve();
  }

  terminate(): void {
    this.calls.push('terminate');
  }

  onFailure(listener: (error: EngineError) => void): () => void {
    this.#onFailure.push(listener);
    return () => undefined;
  }

  fail(error: EngineError): void {
    for (const listener of this.#onFailure) listener(error);
    this.#result.reject(error);
  }
}

interface Boot {
  readonly options: StartOptions;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

function harness() {
  const clusters: FakeCluster[] = [];
  const cells: FakeCell[] = [];
  const states: RunState[] = [];
  const boots: Boot[] = [];
  const startCluster = (options: StartOptions): Promise<ClusterHandle> => {
    const { promise, resolve, reject } = Promise.withResolvers<ClusterHandle>();
    options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
    const finish = (): void => {
      const cluster = new FakeCluster();
      clusters.push(cluster);
      resolve(cluster as unknown as ClusterHandle);
    };
    boots.push({ options, resolve: finish, reject });
    return promise;
  };
  const spawnCell = (): CellWorker => {
    const cell = new FakeCell();
    cells.push(cell);
    return cell as unknown as CellWorker;
  };
  const runner = new CellRunner({ startCluster, spawnCell });
  runner.subscribe((state) => states.push(state));
  return { runner, clusters, cells, states, boots };
}

type World = ReturnType<typeof harness>;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function startAndBoot(world: World): Promise<void> {
  world.runner.start(plan);
  await settled();
  world.boots.at(-1)?.resolve();
  await settled();
}

async function runToDone(world: World): Promise<void> {
  const cluster = world.clusters.at(-1);
  cluster?.log(started);
  cluster?.log(counted, ended);
  cluster?.end('done');
  await settled();
}

const typesOf = ({ states }: World): string[] => states.map(({ type }) => type);
const lastError = ({ runner: { state } }: World) => (state.type === 'failed' ? state.error : state);

test('a run goes from booting through running to done, and leaves no cell worker', async () => {
  const world = harness();
  world.runner.start(plan);
  await settled();
  world.boots[0]?.options.onProgress?.({ loaded: 1, total: 4 });
  world.boots[0]?.resolve();
  await settled();
  await runToDone(world);
  assert.deepEqual(typesOf(world), ['booting', 'booting', 'running', 'running', 'done']);
  assert.deepEqual(world.states[1], { type: 'booting', progress: { loaded: 1, total: 4 } });
  const { state } = world.runner;
  assert.deepEqual(state.type === 'done' && state.log.events, [started, counted, ended]);
  assert.equal(state.type === 'done' && state.summary.sold, 2);
  assert.equal(world.cells[0]?.ended, true);
  assert.deepEqual(world.clusters[0]?.calls, ['exec CREATE TABLE product ()', 'startRun']);
  assert.deepEqual(world.clusters[0]?.requests, [{ cell, seed, parameters, tally: 'SELECT' }]);
});

test('the cluster runs on the virtual clock, with the plan’s sessions and settings', async () => {
  const world = harness();
  world.runner.start({ ...plan, sessions: 2, settings: { deadlock_timeout: '200ms' } });
  await settled();
  const { sessions, settings, clock } = world.boots[0]?.options ?? {};
  assert.deepEqual(
    { sessions, settings, clock },
    { sessions: 2, settings: { deadlock_timeout: '200ms' }, clock: 'virtual' },
  );
});

test('the next run resets the cluster and keeps it', async () => {
  const world = harness();
  await startAndBoot(world);
  await runToDone(world);
  world.runner.start(plan);
  await settled();
  assert.equal(world.boots.length, 1);
  assert.equal(world.cells.length, 2);
  assert.deepEqual(world.clusters[0]?.calls.slice(2), ['reset', 'exec CREATE TABLE product ()', 'startRun']);
});

test('another number of sessions needs another cluster; the old one is ended', async () => {
  const world = harness();
  await startAndBoot(world);
  await runToDone(world);
  world.runner.start({ ...plan, sessions: 2 });
  await settled();
  assert.equal(world.clusters[0]?.calls.at(-1), 'terminate');
  assert.equal(world.boots[1]?.options.sessions, 2);
});

test('Stop ends the cell and its run, resets, and hears nothing of it any more', async () => {
  const world = harness();
  await startAndBoot(world);
  world.clusters[0]?.log(started);
  world.runner.stop();
  world.clusters[0]?.log(counted);
  await settled();
  assert.equal(world.cells[0]?.ended, true);
  assert.deepEqual(world.clusters[0]?.calls.slice(1), ['startRun', 'stop', 'reset']);
  assert.deepEqual(typesOf(world), ['booting', 'running', 'stopped']);
});

test('Stop during the boot gives it up; a second run boots anew', async () => {
  const world = harness();
  world.runner.start(plan);
  await settled();
  world.runner.stop();
  await settled();
  assert.equal(world.boots[0]?.options.signal?.aborted, true);
  assert.equal(world.runner.state.type, 'stopped');
  await startAndBoot(world);
  await runToDone(world);
  assert.equal(world.boots.length, 2);
  assert.equal(world.runner.state.type, 'done');
});

test('a cluster that dies fails the run and is not used again', async () => {
  const world = harness();
  await startAndBoot(world);
  world.clusters[0]?.fail(new EngineError('CLUSTER_FAILED', 'It died.'));
  await settled();
  const error = { source: 'engine', name: 'EngineError', message: 'It died.', code: 'CLUSTER_FAILED' };
  assert.deepEqual(lastError(world), error);
  world.runner.start(plan);
  await settled();
  assert.equal(world.boots.length, 2);
});

test('a boot that fails is told and can be tried again', async () => {
  const world = harness();
  world.runner.start(plan);
  await settled();
  world.boots[0]?.reject(new EngineError('ASSETS_UNAVAILABLE', 'No file.'));
  await settled();
  assert.equal(world.runner.state.type, 'failed');
  await startAndBoot(world);
  assert.equal(world.boots.length, 2);
  assert.equal(world.cells.length, 1);
});

test('an error of the cell is told with all that is known of it', async () => {
  const world = harness();
  await startAndBoot(world);
  world.cells[0]?.report(new DatabaseError('deadlock detected', { code: '40P01', detail: 'Process 1 waits.' }));
  world.clusters[0]?.end('failed', 'deadlock detected');
  await settled();
  const error = { source: 'database', name: 'DatabaseError', message: 'deadlock detected' };
  assert.deepEqual(lastError(world), { ...error, code: '40P01', detail: 'Process 1 waits.' });
  assert.deepEqual(world.clusters[0]?.calls.slice(2), ['stop', 'reset']);
});

test('a cell that computes for ever says nothing: the conductor’s words are told, and its worker is ended', async () => {
  const world = harness();
  await startAndBoot(world);
  world.clusters[0]?.end('failed', 'Is there a loop that never ends?');
  await new Promise((resolve) => setTimeout(resolve, 600));
  const error = { source: 'code', name: 'Error', message: 'Is there a loop that never ends?' };
  assert.deepEqual(lastError(world), error);
  assert.equal(world.cells[0]?.ended, true);
});

test('a worker that dies ends its run, whose conductor would wait for it', async () => {
  const world = harness();
  await startAndBoot(world);
  world.cells[0]?.die('out of memory');
  await settled();
  assert.deepEqual(lastError(world), { source: 'code', name: 'Error', message: 'out of memory' });
  assert.equal(world.clusters[0]?.calls[2], 'stop');
});

test('a second start while one is under way does nothing', async () => {
  const world = harness();
  await startAndBoot(world);
  world.runner.start(plan);
  await settled();
  assert.equal(world.cells.length, 1);
});
