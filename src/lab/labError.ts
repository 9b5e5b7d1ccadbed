import { DatabaseError, EngineError } from '../engine/errors.ts';

export type LabErrorCode =
  /** A function of the lab was called outside a run. */
  | 'NO_RUN'
  /** An option is missing or out of range. */
  | 'BAD_ARGUMENT'
  /** A second race, queue or script began while one was going on. */
  | 'BUSY'
  /** A client was used after its release, or before `connect()`. */
  | 'CLIENT_RELEASED'
  /** COMMIT ended a failed transaction: Postgres rolled it back. */
  | 'ROLLED_BACK'
  /** A scripted step did not do what the script says. */
  | 'UNEXPECTED_STEP';

/** The lab was used in a way that it cannot serve. The message says what was expected. */
export class LabError extends Error {
  override readonly name = 'LabError';
  readonly code: LabErrorCode;

  constructor(code: LabErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export type RaceErrorCode =
  /** Nothing can happen any more. */
  | 'STUCK'
  /** A customer ended while it held a client. */
  | 'CLIENT_NOT_RELEASED';

/** A race that cannot end, or ended badly. The message says who waits for whom. */
export class RaceError extends Error {
  override readonly name = 'RaceError';
  readonly code: RaceErrorCode;

  constructor(code: RaceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What node-postgres reports as a plain Error: the connection, not a statement, failed. */
export class ConnectionError extends Error {
  readonly reason: 'connection-timeout' | 'connection-ended';

  constructor(reason: ConnectionError['reason'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

/** Whether Postgres reported it; also for errors of the npm package `pg`, which have a class of their own. */
export function isDatabaseError(error: unknown): error is Error & { readonly code: string } {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return error instanceof DatabaseError || ('severity' in error && /^[0-9A-Z]{5}$/.test(error.code));
}

/** SQLSTATE or the connection's failure; null for an error in the reader's code. */
export function failureCode(error: unknown): string | null {
  if (isDatabaseError(error)) return error.code;
  return error instanceof ConnectionError ? error.reason : null;
}

/** Whether the session is gone: terminated by somebody, or its cluster died. */
export function endsSession(error: unknown): boolean {
  if (error instanceof EngineError) return error.code === 'SESSION_ENDED';
  return isDatabaseError(error) && ['57P01', '57P02', '57P03'].includes(error.code);
}
