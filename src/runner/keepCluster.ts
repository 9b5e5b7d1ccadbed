import type { ClusterHandle, StartOptions } from '../engine/handle.ts';
import type { LoadProgress } from '../engine/protocol.ts';
import { within } from './within.ts';

export type StartCluster = (options: StartOptions) => Promise<ClusterHandle>;

/** What a run asks of its cluster; with another number of sessions or other settings it has to be another one. */
export interface Wanted {
  readonly sessions: number;
  readonly settings: Readonly<Record<string, string>>;
}

interface Kept {
  /** What it was booted for, as text. */
  readonly kind: string;
  readonly handle: Promise<ClusterHandle>;
  readonly boot: AbortController;
}

/** How long a reset may take, in ms, before the cluster counts as stuck: a statement that computes holds its thread. */
const RESET_BOUND = 5_000;

/** Keeps one cluster on the virtual clock from run to run, and boots another only when it has to. */
export class ClusterKeeper {
  readonly #start: StartCluster;
  readonly #bound: number;
  #kept: Kept | null = null;
  #released: Promise<void> = Promise.resolve();

  constructor(start: StartCluster, bound = RESET_BOUND) {
    this.#start = start;
    this.#bound = bound;
  }

  /** A cluster as new: the kept one, reset, if it fits; else a fresh one. */
  async acquire(wanted: Wanted, onProgress: (progress: LoadProgress) => void): Promise<ClusterHandle> {
    await this.#released;
    if (this.#kept !== null && this.#kept.kind !== kindOf(wanted)) this.drop();
    await this.#resetOrDrop();
    return this.#kept === null ? this.#boot(wanted, onProgress) : this.#kept.handle;
  }

  /** A run was given up: what it left running is cancelled, what it left open is rolled back. */
  release(): void {
    this.#released = this.#resetOrDrop();
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

  #boot(wanted: Wanted, onProgress: (progress: LoadProgress) => void): Promise<ClusterHandle> {
    const { sessions, settings } = wanted;
    const boot = new AbortController();
    const handle = this.#start({ sessions, settings, clock: 'virtual', onProgress, signal: boot.signal });
    const kept = { kind: kindOf(wanted), handle, boot };
    this.#kept = kept;
    const forget = (): void => {
      if (this.#kept === kept) this.#kept = null;
    };
    handle.then((cluster) => cluster.onFailure(forget), forget);
    return handle;
  }

  async #resetOrDrop(): Promise<void> {
    const kept = this.#kept;
    if (kept === null) return;
    try {
      await within(
        this.#bound,
        kept.handle.then((cluster) => cluster.reset()),
      );
    } catch {
      if (this.#kept === kept) this.drop();
    }
  }
}

function kindOf({ sessions, settings }: Wanted): string {
  return JSON.stringify([sessions, Object.entries(settings).sort()]);
}
