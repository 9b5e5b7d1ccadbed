import type { ClusterHandle } from '../engine/handle.ts';
import type { LoadProgress } from '../engine/protocol.ts';
import type { Dispose, Versions } from '../engine/types.ts';
import type { RaceOutcome, RacePlan, RaceTally } from '../lab/index.ts';
import { ClusterKeeper, type StartCluster } from './keepCluster.ts';
import { packRunError } from './packRunError.ts';
import type { CellMessage, RunError, StartRace } from './protocol.ts';

export type RaceState =
  | { readonly type: 'idle' }
  /** `progress` is null until bytes arrive, and when nothing has to be loaded. */
  | { readonly type: 'booting'; readonly progress: LoadProgress | null }
  | { readonly type: 'running'; readonly tally: RaceTally | null }
  | { readonly type: 'done'; readonly outcome: RaceOutcome; readonly sessions: number; readonly versions: Versions }
  | { readonly type: 'failed'; readonly error: RunError }
  | { readonly type: 'stopped' };

export interface RaceRun {
  /** `NN-slug/name` of the cell. */
  readonly cell: string;
  readonly plan: RacePlan;
  /** 1 to 40. */
  readonly sessions: number;
}

/** The part of `Worker` that a run needs. */
export type CellWorker = Pick<Worker, 'addEventListener' | 'postMessage' | 'terminate'>;

/** What a runner starts; a test gives its own. */
export interface Edges {
  readonly startCluster: StartCluster;
  readonly spawnCell: () => CellWorker;
}

/** What one run holds until it ends. */
interface Held {
  readonly worker: CellWorker;
  readonly port: MessagePort;
  readonly unwatch: Dispose;
}

/** Runs races one at a time. The cluster is kept between runs, the cell's worker never is. */
export class RaceRunner {
  readonly #edges: Edges;
  readonly #keeper: ClusterKeeper;
  readonly #listeners = new Set<(state: RaceState) => void>();
  #state: RaceState = { type: 'idle' };
  #runId = 0;
  #held: Held | null = null;

  constructor(edges: Edges) {
    this.#edges = edges;
    this.#keeper = new ClusterKeeper(edges.startCluster);
  }

  get state(): RaceState {
    return this.#state;
  }

  subscribe(listener: (state: RaceState) => void): Dispose {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a run; does nothing while one is under way. Its end is a state, never a rejection. */
  start(run: RaceRun): void {
    if (isBusy(this.#state)) return;
    this.#runId += 1;
    void this.#run(this.#runId, run);
  }

  /** Ends the cell's worker and cancels what its sessions do; a cluster that still boots is ended. */
  stop(): void {
    if (!isBusy(this.#state)) return;
    if (this.#state.type === 'booting') this.#keeper.drop();
    this.#abandon();
  }

  /** Ends every worker. The runner can be started again. */
  dispose(): void {
    if (isBusy(this.#state)) this.#abandon();
    this.#keeper.drop();
  }

  async #run(id: number, run: RaceRun): Promise<void> {
    this.#set(id, { type: 'booting', progress: null });
    try {
      const onProgress = (progress: LoadProgress) => this.#set(id, { type: 'booting', progress });
      const cluster = await this.#keeper.acquire(run.sessions, onProgress);
      if (id !== this.#runId) return;
      const outcome = await this.#runCell(id, run, cluster);
      this.#finish(id, { type: 'done', outcome, sessions: cluster.sessions.length, versions: cluster.versions });
    } catch (error) {
      this.#finish(id, {
        type: 'failed',
        error: error instanceof CellFailure ? error.error : packRunError(error, 'engine'),
      });
    }
  }

  #runCell(id: number, { cell, plan }: RaceRun, cluster: ClusterHandle): Promise<RaceOutcome> {
    const port = cluster.newPort();
    const worker = this.#edges.spawnCell();
    return new Promise((resolve, reject) => {
      this.#held = { worker, port, unwatch: cluster.onFailure(reject) };
      worker.addEventListener('error', (event) => reject(new CellFailure(packWorkerError(event))));
      worker.addEventListener('message', ({ data }: MessageEvent<CellMessage>) => {
        if (data.type === 'started') this.#set(id, { type: 'running', tally: null });
        else if (data.type === 'progress') this.#set(id, { type: 'running', tally: data.tally });
        else if (data.type === 'done') resolve(data.outcome);
        else reject(new CellFailure(data.error));
      });
      worker.postMessage({ type: 'start', cell, plan, port } satisfies StartRace, [port]);
    });
  }

  #finish(id: number, state: RaceState): void {
    if (id !== this.#runId) return;
    this.#letGo();
    this.#set(id, state);
  }

  #abandon(): void {
    this.#runId += 1;
    this.#letGo();
    this.#set(this.#runId, { type: 'stopped' });
  }

  #letGo(): void {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    held.unwatch();
    held.worker.terminate();
    this.#keeper.release(held.port);
  }

  /** What belongs to an older run is dropped. */
  #set(id: number, state: RaceState): void {
    if (id !== this.#runId) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

export function isBusy(state: RaceState): boolean {
  return state.type === 'booting' || state.type === 'running';
}

class CellFailure extends Error {
  readonly error: RunError;

  constructor(error: RunError) {
    super(error.message);
    this.error = error;
  }
}

/** The event has no message when the worker's script itself could not be loaded. */
function packWorkerError(event: ErrorEvent): RunError {
  if (event.message) return { source: 'code', name: 'Error', message: event.message };
  const message = "The cell's worker could not be loaded. Check the connection and run again.";
  return { source: 'engine', name: 'Error', message };
}
