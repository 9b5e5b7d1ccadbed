/**
 * What the lab stands on: a clock, sessions, a log. Three things implement it:
 * the deterministic conductor over a port, real sessions of the engine on the
 * machine's clock, and a native server through `pg`.
 */
import type { RunParameters, Unstamped } from '../events/events.ts';
import type { QueryResult, SessionReport } from '../engine/types.ts';

export type { SessionReport, Unstamped };

/** A timer on the run's clock. */
export interface Timer {
  /** Resolves when it is due; never when it was cancelled first. */
  readonly due: Promise<void>;
  cancel(): void;
}

export interface LabHost {
  readonly seed: number;
  readonly clock: 'virtual' | 'real';
  /** How many sessions there are: the connections that pools can hand out. */
  readonly sessions: number;
  readonly parameters: RunParameters;
  /** Whole microseconds since the run began. */
  now(): number;
  /** Milliseconds since 1970 on the run's clock: what `Date.now()` and Postgres' `now()` agree on. */
  dateNow(): number;
  /**
   * Sends a statement to a session and waits for its answer: `values` undefined
   * for the simple protocol (an array of results when there are several).
   * The host logs query-sent to query-done or query-failed, waits and transactions.
   * Statements of one session have to be sent one after the other.
   *
   * @throws DatabaseError, or EngineError SESSION_ENDED when the session was terminated.
   */
  query(
    session: number,
    text: string,
    values: readonly unknown[] | undefined,
    from: { readonly customer: number | null; readonly line: number | null },
  ): Promise<QueryResult | QueryResult[]>;
  /**
   * Ends the session's connection as a closed socket does: what it runs is
   * cancelled, its transaction rolled back (logged as such, with no statement),
   * its settings are gone. Resolves to whether a fresh session stands in its
   * place. Without it the lab sends ROLLBACK and DISCARD ALL.
   */
  renew?(session: number): Promise<boolean>;
  /**
   * True as soon as the statement that the session runs waits for a lock (asked
   * anew, never from memory); false when it runs none, or that ends without
   * waiting. Without it no script can run.
   */
  untilWaiting?(session: number): Promise<boolean>;
  /** `microseconds` from now, 0 or more, for a customer (who then counts as able to move). Drawn ties are the host's business. */
  startTimer(microseconds: number, customer?: number | null): Timer;
  /** Adds an event of the lab's own to the log. */
  emit(event: Unstamped): void;
  /** Numbers in [0, 1), the same for the same seed and name on every machine. */
  random(stream: string): () => number;
  /** Tells, once, that nothing can happen any more while the body has not ended (virtual clock only). */
  onStuck(listener: (sessions: readonly SessionReport[]) => void): () => void;
}
