import type { ClusterHandle, RunHandle } from '../engine/handle.ts';
import type { LoadProgress } from '../engine/protocol.ts';
import type { Dispose } from '../engine/types.ts';
import type { RunEvent } from '../events/events.ts';
import { RunLog } from '../events/log.ts';
import { summarise } from '../events/summary.ts';
import { startCellThread, type CellThread, type CellWorker } from './cellThread.ts';
import { ClusterKeeper, type StartCluster } from './keepCluster.ts';
import { packRunError } from './packRunError.ts';
import type { RunPlan } from './plan.ts';
import type { RunError } from './protocol.ts';
import { isBusy, type EndState, type RunState } from './state.ts';
import { within } from './within.ts';

/** What a runner starts; a test gives its own. */
export interface Edges {
  readonly startCluster: StartCluster;
  readonly spawnCell: () => CellWorker;
}

/** What one run holds until it ends. */
interface Held {
  readonly thread: CellThread;
  readonly run: RunHandle;
}

/** How long, in ms, the cell's own words for what ended its run may be on their way after the conductor's. */
const REPORT_BOUND = 500;

/** Runs cells on the virtual clock, one at a time. The cluster is kept between runs, the cell's worker never is. */
export class CellRunner {
  readonly #edges: Edges;
  readonly #keeper: ClusterKeeper;
  readonly #listeners = new Set<(state: RunState) => void>();
  #state: RunState = { type: 'idle' };
  #runId = 0;
  #held: Held | null = null;

  constructor(edges: Edges) {
    this.#edges = edges;
    this.#keeper = new ClusterKeeper(edges.startCluster);
  }

  get state(): RunState {
    return this.#state;
  }

  subscribe(listener: (state: RunState) => void): Dispose {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a run; does nothing while one is under way. Its end is a state, never a rejection. */
  start(plan: RunPlan): void {
    if (isBusy(this.#state)) return;
    this.#runId += 1;
    void this.#run(this.#runId, plan);
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

  async #run(id: number, plan: RunPlan): Promise<void> {
    this.#set(id, { type: 'booting', progress: null });
    try {
      const onProgress = (progress: LoadProgress) => this.#set(id, { type: 'booting', progress });
      const cluster = await this.#keeper.acquire(plan, onProgress);
      if (id !== this.#runId) return;
      await cluster.sessions[0]?.exec(plan.schema);
      if (id !== this.#runId) return;
      this.#finish(id, await this.#conduct(id, plan, cluster));
    } catch (error) {
      this.#finish(id, { type: 'failed', error: packRunError(error, 'engine') });
    }
  }

  async #conduct(id: number, plan: RunPlan, cluster: ClusterHandle): Promise<EndState> {
    const log = new RunLog();
    const onEvents = (events: readonly RunEvent[]): void => {
      log.append(...events);
      this.#set(id, { type: 'running', log });
    };
    const thread = startCellThread(this.#edges.spawnCell(), plan.cell);
    const { cell, seed, parameters, tally } = plan;
    const startedAt = performance.now();
    const run = cluster.startRun({ cell, seed, parameters, tally }, thread.port, { onEvents });
    this.#held = { thread, run };
    void thread.died.then(() => run.stop());
    const { status, message } = await run.result;
    if (status !== 'done') return { type: 'failed', error: await whyFailed(thread, message) };
    return { type: 'done', log, summary: summarise(log.events, Math.round(performance.now() - startedAt)) };
  }

  #finish(id: number, state: EndState): void {
    if (id !== this.#runId) return;
    this.#letGo(state);
    this.#set(id, state);
  }

  #abandon(): void {
    this.#runId += 1;
    const state: EndState = { type: 'stopped' };
    this.#letGo(state);
    this.#set(this.#runId, state);
  }

  /** What a run that came to no good end has left open is ended at once; the tables of a good one can still be read. */
  #letGo({ type }: EndState): void {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    held.thread.end();
    if (type === 'done') return;
    held.run.stop();
    this.#keeper.release();
  }

  /** What belongs to an older run is dropped. */
  #set(id: number, state: RunState): void {
    if (id !== this.#runId) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** In the cell's own words, with an error's SQLSTATE and detail, where they come; an endless loop says nothing. */
async function whyFailed({ ended, died }: CellThread, message: string | null): Promise<RunError> {
  const reported = await within(REPORT_BOUND, Promise.race([ended, died])).catch(() => null);
  return reported ?? { source: 'code', name: 'Error', message: message ?? 'It was stopped.' };
}
