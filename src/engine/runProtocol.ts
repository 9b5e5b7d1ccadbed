/**
 * Messages between a run's conductor and the worker that runs the reader's code.
 * They go in lock step: each message to the cell is answered by one `turn`, sent
 * when the cell's code has nothing more to do at that moment.
 */
import type { RunParameters, Unstamped } from '../events/events.ts';
import type { PackedError } from './packError.ts';
import type { QueryResult, SessionReport } from './types.ts';

/** First message to the cell. */
export interface RunBegins {
  readonly type: 'begin';
  readonly seed: number;
  readonly sessions: number;
  readonly parameters: RunParameters;
  /** Milliseconds since 1970 at the beginning of the run, on the run's clock. */
  readonly epochMs: number;
}

export type ToCell =
  | RunBegins
  | { readonly type: 'answer'; readonly id: number; readonly now: number; readonly results: QueryResult[] }
  | { readonly type: 'error'; readonly id: number; readonly now: number; readonly error: PackedError }
  | { readonly type: 'ready'; readonly id: number; readonly now: number }
  | { readonly type: 'waits'; readonly id: number; readonly now: number; readonly waits: boolean }
  /** A timer is due. */
  | { readonly type: 'due'; readonly id: number; readonly now: number }
  /** Nothing can happen any more. */
  | { readonly type: 'stuck'; readonly now: number; readonly sessions: readonly SessionReport[] };

/** What the cell's code wants, in the order in which it asked. Ids are the cell's. */
export type CellAction =
  | {
      readonly type: 'query';
      readonly id: number;
      readonly session: number;
      readonly text: string;
      readonly values: readonly unknown[] | undefined;
      readonly customer: number | null;
      readonly line: number | null;
    }
  | { readonly type: 'timer'; readonly id: number; readonly microseconds: number; readonly customer: number | null }
  | { readonly type: 'cancel-timer'; readonly id: number }
  /** A connection was closed: its session is to be as new. Answered with `ready`. */
  | { readonly type: 'renew'; readonly id: number; readonly session: number; readonly customer: number | null }
  /** Does the statement on its way in this session wait for a lock? Answered with `waits`. */
  | { readonly type: 'until-waiting'; readonly id: number; readonly session: number }
  | { readonly type: 'emit'; readonly event: Unstamped }
  /** The cell has ended: `message` is null when it ended well. */
  | { readonly type: 'end'; readonly message: string | null };

export interface FromCell {
  readonly type: 'turn';
  readonly actions: readonly CellAction[];
}
