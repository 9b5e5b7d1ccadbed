/** Messages between a run in Node and the thread of its cell. */
import type { MessagePort } from 'node:worker_threads';
import type { PackedError } from '../../engine/packError.ts';
import type { RunEvent, RunParameters } from '../../events/events.ts';

/** What the thread starts with. */
export interface CellTask {
  /** URL of the cell's file. */
  readonly url: string;
  readonly clock: 'virtual' | 'real';
  readonly seed: number;
  readonly parameters: RunParameters;
  /** To the run's conductor (virtual clock), or to the cluster. */
  readonly port: MessagePort;
}

export type CellReport =
  /** Real clock only: on the virtual one the conductor keeps the log. */
  | { readonly type: 'event'; readonly event: RunEvent }
  /** The cell's code has ended; null when it ended well. */
  | { readonly type: 'ended'; readonly error: PackedError | null };
