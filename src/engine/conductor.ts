/**
 * Who runs next, and what time it is: the one replaceable part of a cluster.
 * Backends do nothing by themselves; a conductor starts and resumes them, one at
 * a time.
 */
import type { Backend } from './backend.ts';
import type { Clock } from './clock.ts';

export interface Conductor {
  readonly clock: Clock;
  /** From now on the backend is watched for signals and timers, also while it is idle. */
  add(backend: Backend, idle: IdleListener): void;
  /** Runs a client's message to its end, with all its waits. False when the backend's process has exited. */
  run(backend: Backend, message: Uint8Array, output: (bytes: Uint8Array) => void): Promise<boolean>;
  /** Something happened to a backend that it may have to act on: a signal. */
  wake(backend: Backend): void;
  /** The cluster has died or is closed: everything that runs rejects with `error`, and nothing runs any more. */
  stop(error: Error): void;
}

/** What an idle backend does by itself: it reports a notification, or exits. */
export interface IdleListener {
  /** Position in the cluster; breaks ties on the virtual clock. -1 for the observer. */
  readonly index: number;
  readonly onOutput: (bytes: Uint8Array) => void;
  readonly onExit: () => void;
}

/** A message on its way through a backend. */
export interface Job {
  readonly backend: Backend;
  readonly message: Uint8Array;
  readonly output: (bytes: Uint8Array) => void;
  readonly done: PromiseWithResolvers<boolean>;
}
