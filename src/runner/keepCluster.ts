import type { ClusterHandle, StartOptions } from '../engine/handle.ts';
import type { LoadProgress } from '../engine/protocol.ts';
import { within } from './within.ts';

export type StartCluster = (options: StartOptions) => Promise<ClusterHandle>;

interface Kept {
  readonly sessions: number;
  readonly handle: Promise<ClusterHandle>;
  readonly boot: AbortController;
}

/** How long a cluster may take to let go of a run, in ms, before it counts as stuck: a statement that computes holds its thread. */
const RELEASE_BOUND = 5_000;

/** Keeps one cluster from run to run, and boots another only when it has to. */
export class ClusterKeeper {
  readonly #start: StartCluster;
  readonly #bound: number;
  #kept: Kept | null = null;
  #released: Promise<void> = Promise.resolve();

  constructor(start: StartCluster, bound = RELEASE_BOUND) {
    this.#start = start;
    this.#bound = bound;
  }

  /** A cluster as new, with that many sessions: the kept one, reset, if it fits; else a fresh one. */
  async acquire(sessions: number, onProgress: (progress: LoadProgress) => void): Promise<ClusterHandle> {
    await this.#released;
    if (this.#kept !== null && this.#kept.sessions !== sessions) this.drop();
    await this.#keepOnlyIf(async (cluster) => cluster.reset());
    return this.#kept === null ? this.#boot(sessions, onProgress) : this.#kept.handle;
  }

  /** Takes a port back: what its worker left running is cancelled, what it left open is rolled back. */
  release(port: MessagePort): void {
    this.#released = this.#keepOnlyIf((cluster) => cluster.dropPort(port));
  }

  /** Ends the cluster's worker, also one that still boots. */
  drop(): void {
    const kept = this.#kept;
    this.#kept = null;
    kept?.boot.abort(new Error('The start was given up.'));
    kept?.handle.then(
      (cluster) => cluster.terminate(),
      () => undefined,
    );
  }

  #boot(sessions: number, onProgress: (progress: LoadProgress) => void): Promise<ClusterHandle> {
    const boot = new AbortController();
    const handle = this.#start({ sessions, onProgress, signal: boot.signal });
    const kept = { sessions, handle, boot };
    this.#kept = kept;
    const forget = (): void => {
      if (this.#kept === kept) this.#kept = null;
    };
    handle.then((cluster) => cluster.onFailure(forget), forget);
    return handle;
  }

  async #keepOnlyIf(ready: (cluster: ClusterHandle) => Promise<void>): Promise<void> {
    const kept = this.#kept;
    if (kept === null) return;
    try {
      await within(this.#bound, kept.handle.then(ready));
    } catch {
      if (this.#kept === kept) this.drop();
    }
  }
}
