/** Runs cells in Node: on the engine's virtual or real clock, or on a native server. */
import { MessageChannel, Worker } from 'node:worker_threads';
import { EngineError } from '../../engine/errors.ts';
import type { EngineCluster } from '../../engine/cluster.ts';
import type { Latency } from '../../engine/latency.ts';
import { unpackError } from '../../engine/packError.ts';
import { fromNodeEmitter } from '../../engine/port.ts';
import type { Policy } from '../../engine/schedule.ts';
import { ClusterServer } from '../../engine/serve.ts';
import type { Cluster, Row } from '../../engine/types.ts';
import type { RunEvent, RunParameters } from '../../events/events.ts';
import { RunLog } from '../../events/log.ts';
import type { FoundCell } from './findCell.ts';
import type { CellReport, CellTask } from './protocol.ts';

export interface RunOptions {
  /** Whole number. */
  readonly seed: number;
  /** Beside, or in place of, the cell's own. */
  readonly parameters?: RunParameters;
  readonly latency?: Latency;
  readonly policy?: Policy;
  readonly onEvent?: (event: RunEvent) => void;
  /** Ends the run. */
  readonly signal?: AbortSignal;
}

export interface CellRun {
  readonly events: readonly RunEvent[];
  /** Real milliseconds, without set-up. */
  readonly wallMs: number;
  /** What the cell threw, or null. */
  readonly error: Error | null;
  /** The choices made, for `scriptedPolicy`; empty on the real clock. */
  readonly choices: readonly number[];
}

/** Empties the cluster, makes the cell's tables and runs it. */
export async function runCell(cluster: Cluster, cell: FoundCell, options: RunOptions): Promise<CellRun> {
  await cluster.reset();
  await cluster.sessions[0]?.exec(cell.schema);
  return isConducted(cluster) ? runVirtual(cluster, cell, options) : runReal(cluster, cell, options);
}

function isConducted(cluster: Cluster): cluster is EngineCluster {
  return 'isVirtual' in cluster && cluster.isVirtual === true;
}

function parametersOf({ spec }: FoundCell, cluster: Cluster, given: RunParameters = {}): RunParameters {
  return { ...spec.parameters, connections: cluster.sessions.length, ...given };
}

async function runVirtual(cluster: EngineCluster, cell: FoundCell, options: RunOptions): Promise<CellRun> {
  const { seed, signal, onEvent, latency, policy } = options;
  const parameters = parametersOf(cell, cluster, options.parameters);
  const log = new RunLog();
  const { port1, port2 } = new MessageChannel();
  const thread = startThread({ url: cell.url, clock: 'virtual', seed, parameters, port: port2 }, () => {});
  const startedAt = performance.now();
  try {
    const run = await cluster.startRun(fromNodeEmitter(port1), {
      cell: cell.id,
      seed,
      parameters,
      tally: cell.spec.tally,
      ...(latency && { latency }),
      ...(policy && { policy }),
      onEvent(event) {
        log.append(event);
        onEvent?.(event);
      },
    });
    signal?.addEventListener('abort', () => run.stop());
    if (signal?.aborted) run.stop();
    thread.ended.catch(() => run.stop());
    const { choices, status, message } = await run.result;
    const error =
      status === 'failed'
        ? ((await Promise.race([thread.ended, Promise.resolve(null)])) ?? new Error(message ?? ''))
        : null;
    return { events: log.events, wallMs: performance.now() - startedAt, error, choices };
  } finally {
    await thread.end();
    port1.close();
  }
}

async function runReal(cluster: Cluster, cell: FoundCell, options: RunOptions): Promise<CellRun> {
  const { seed, signal, onEvent } = options;
  const parameters = parametersOf(cell, cluster, options.parameters);
  const log = new RunLog();
  const add = (event: RunEvent): void => {
    log.append(event);
    onEvent?.(event);
  };
  const nobody = { session: null, customer: null };
  const { versions, sessions } = cluster;
  add({
    type: 'run-started',
    at: 0,
    cell: cell.id,
    seed,
    clock: 'real',
    sessions: sessions.length,
    parameters,
    versions,
    ...nobody,
  });
  const before = await tally(cluster, cell);
  const { port1, port2 } = new MessageChannel();
  const server = ClusterServer.of(cluster);
  server.serve(fromNodeEmitter(port1), CELL);
  const startedAt = performance.now();
  const thread = startThread({ url: cell.url, clock: 'real', seed, parameters, port: port2 }, add);
  const error = await Promise.race([thread.ended, aborted(signal)]).catch((reason: Error) => reason);
  const wallMs = performance.now() - startedAt;
  // In this order: a port that closes by itself is cleaned up behind our back.
  await server.drop(CELL);
  await thread.end();
  server.dispose();
  const at = log.events.at(-1)?.at ?? 0;
  const status = signal?.aborted ? 'stopped' : error === null ? 'done' : 'failed';
  if (status === 'done') {
    const { stock, sold, ...extra } = await tally(cluster, cell);
    add({
      type: 'tally',
      at,
      stockBefore: Number(before['stock']),
      stockAfter: Number(stock),
      sold: Number(sold),
      extra: extra as Record<string, number>,
      ...nobody,
    });
  }
  add({ type: 'run-ended', at, status, message: error?.message ?? null, ...nobody });
  return { events: log.events, wallMs, error: status === 'stopped' ? null : error, choices: [] };
}

/** The name of the cell's port at the cluster's server. */
const CELL = 'cell';

/** Resolves when the signal is aborted. */
function aborted(signal: AbortSignal | undefined): Promise<null> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve(null);
    signal?.addEventListener('abort', () => resolve(null));
  });
}

async function tally({ sessions }: Cluster, { spec }: FoundCell): Promise<Row> {
  const result = await sessions[0]?.query(spec.tally);
  return result?.rows[0] ?? {};
}

interface Thread {
  /** What the cell threw, or null. @throws when the thread itself died. */
  readonly ended: Promise<Error | null>;
  end(): Promise<void>;
}

function startThread(task: CellTask, onEvent: (event: RunEvent) => void): Thread {
  const worker = new Worker(new URL('./cellThread.ts', import.meta.url), {
    workerData: task,
    transferList: [task.port],
  });
  const { promise, resolve, reject } = Promise.withResolvers<Error | null>();
  promise.catch(() => {});
  worker.on('message', (message: CellReport) => {
    if (message.type === 'event') onEvent(message.event);
    else resolve(message.error && unpackError(message.error));
  });
  worker.on('error', reject);
  worker.on('exit', () => reject(new EngineError('CLUSTER_CLOSED', "The cell's thread was ended.")));
  return { ended: promise, end: async () => void (await worker.terminate()) };
}
