/**
 * What happens in a run, in order: the one source of everything that a page, a
 * table or a report shows about it (see `log.ts` and the folds beside it).
 *
 * Imports nothing. Every event is plain data that survives structured clone and
 * JSON.
 */

/** What all events have in common. */
interface Stamped {
  /** Whole microseconds since the run began: virtual or real, as `run-started` says. */
  readonly at: number;
  /** 0-based session of the cluster, or null where none is concerned. */
  readonly session: number | null;
  /** 0-based customer (buyer, worker) of the race, or null for what nobody in it did (set-up, observer). */
  readonly customer: number | null;
}

/** A parameter or column value: JSON, with a Date as `{ date: µs since the run began }`. */
export type LoggedValue =
  | string
  | number
  | boolean
  | null
  | { readonly date: number }
  | { readonly bigint: string }
  | { readonly bytes: number }
  | readonly LoggedValue[]
  | { readonly json: unknown };

/** `ReadyForQuery`'s status: idle, in a transaction, in a failed one. */
export type TransactionStatus = 'I' | 'T' | 'E';

export type RunParameters = Readonly<Record<string, number | string | boolean>>;

/** First event of every log. */
export interface RunStarted extends Stamped {
  readonly type: 'run-started';
  /** Lesson and cell, for example `01-the-sale/naive`; free text for code of a reader's. */
  readonly cell: string;
  readonly seed: number;
  readonly clock: 'virtual' | 'real';
  readonly sessions: number;
  readonly parameters: RunParameters;
  readonly versions: { readonly pglite: string | null; readonly postgres: string };
}

/** Last event of every log. */
export interface RunEnded extends Stamped {
  readonly type: 'run-ended';
  readonly status: 'done' | 'failed' | 'stopped';
  /** What went wrong, in words for the reader; null when done. */
  readonly message: string | null;
}

/** A client has sent a statement; it is on its way. `query` numbers statements from 0 in order of sending. */
export interface QuerySent extends Stamped {
  readonly type: 'query-sent';
  readonly query: number;
  readonly sql: string;
  readonly values: readonly LoggedValue[];
  /** 1-based line of the cell that sent it, when known. */
  readonly line: number | null;
}

/** The statement has reached its backend and runs. */
export interface QueryStarted extends Stamped {
  readonly type: 'query-started';
  readonly query: number;
}

/** The statement waits for a lock: what Postgres says in `pg_locks` and `pg_blocking_pids()`. */
export interface LockWaitBegan extends Stamped {
  readonly type: 'lock-wait';
  readonly query: number;
  readonly lockType: string;
  readonly mode: string;
  readonly relation: string | null;
  /** Sessions that block it, by index; a pid outside the cluster's sessions is left out. */
  readonly blockedBy: readonly number[];
}

/** The wait is over: the lock was granted, or the statement failed (which `query-failed` then says). */
export interface LockWaitEnded extends Stamped {
  readonly type: 'lock-wait-ended';
  readonly query: number;
}

/** The answer has reached the client. */
export interface QueryDone extends Stamped {
  readonly type: 'query-done';
  readonly query: number;
  /** Virtual or real microsecond at which the backend had finished. */
  readonly finishedAt: number;
  readonly command: string;
  readonly rowCount: number | null;
  /** The first rows, at most five. */
  readonly rows: readonly Readonly<Record<string, LoggedValue>>[];
  readonly transaction: TransactionStatus;
}

/** The statement failed, as its client learns. A deadlock victim is one with code 40P01. */
export interface QueryFailed extends Stamped {
  readonly type: 'query-failed';
  readonly query: number;
  readonly finishedAt: number;
  /** SQLSTATE. */
  readonly code: string;
  readonly message: string;
  readonly detail: string | null;
  readonly hint: string | null;
  readonly constraint: string | null;
  /** 1-based character in the statement. */
  readonly position: number | null;
  readonly transaction: TransactionStatus;
}

/** A transaction block began or ended in a session (at the backend, before the client learns of it). */
export interface TransactionChanged extends Stamped {
  readonly type: 'transaction';
  readonly action: 'begin' | 'commit' | 'rollback' | 'fail';
}

export interface Notice extends Stamped {
  readonly type: 'notice';
  readonly severity: string;
  readonly message: string;
}

/** The customer sleeps: work outside the database. */
export interface SleepBegan extends Stamped {
  readonly type: 'sleep';
  /** Microseconds. */
  readonly duration: number;
}

export interface SleepEnded extends Stamped {
  readonly type: 'sleep-ended';
}

/** All connections of the pool are out; the customer waits in line. */
export interface ConnectionWaitBegan extends Stamped {
  readonly type: 'connection-wait';
  /** How many waited before it. */
  readonly ahead: number;
}

/** The customer has a connection: `session` says which. */
export interface ConnectionAcquired extends Stamped {
  readonly type: 'connection-acquired';
}

/** The wait for a connection ended in the pool's timeout. */
export interface ConnectionTimedOut extends Stamped {
  readonly type: 'connection-timeout';
}

export interface ConnectionReleased extends Stamped {
  readonly type: 'connection-released';
}

/** One attempt (a click, a cart, a message) begins. `attempt` numbers them from 0 over all customers. */
export interface AttemptBegan extends Stamped {
  readonly type: 'attempt';
  readonly attempt: number;
}

/** The transaction is tried again. */
export interface Retried extends Stamped {
  readonly type: 'retry';
  readonly attempt: number | null;
  /** SQLSTATE, or what the cell says: `version` for a lost optimistic update. */
  readonly reason: string;
  /** 1 for the first retry of the attempt. */
  readonly times: number;
}

/** How an attempt ended. */
export type Outcome = 'confirmed' | 'oversold' | 'rejected' | 'duplicate' | 'gave-up' | 'failed';

export interface AttemptEnded extends Stamped {
  readonly type: 'outcome';
  readonly attempt: number;
  readonly outcome: Outcome;
  /** Whatever the cell adds: stock read before and after, an order's id, an error's text. */
  readonly note: Readonly<Record<string, LoggedValue>>;
}

/** A queue hands a message to a worker. */
export interface MessageDelivered extends Stamped {
  readonly type: 'message-delivered';
  readonly message: string;
  /** 1 for the first delivery. */
  readonly delivery: number;
}

/** What became of a delivery: acknowledged, its acknowledgement lost, or its worker dead before or after commit. */
export interface MessageSettled extends Stamped {
  readonly type: 'message-settled';
  readonly message: string;
  readonly delivery: number;
  readonly fate: 'acknowledged' | 'ack-lost' | 'died-before-commit' | 'died-after-commit';
}

/** What the observer saw: committed stock and orders. Costs no virtual time. */
export interface Sampled extends Stamped {
  readonly type: 'sample';
  readonly stock: number;
  readonly orders: number;
}

/** Text that the cell printed. */
export interface Printed extends Stamped {
  readonly type: 'console';
  readonly level: 'log' | 'info' | 'warn' | 'error';
  readonly text: string;
}

/** The final count, from the lesson's tally query, after all has ended. */
export interface Tallied extends Stamped {
  readonly type: 'tally';
  readonly stockBefore: number;
  readonly stockAfter: number;
  /** Units that orders say were sold. */
  readonly sold: number;
  /** Whatever else the lesson's tally counts. */
  readonly extra: Readonly<Record<string, LoggedValue>>;
}

export type RunEvent =
  | RunStarted
  | RunEnded
  | QuerySent
  | QueryStarted
  | LockWaitBegan
  | LockWaitEnded
  | QueryDone
  | QueryFailed
  | TransactionChanged
  | Notice
  | SleepBegan
  | SleepEnded
  | ConnectionWaitBegan
  | ConnectionAcquired
  | ConnectionTimedOut
  | ConnectionReleased
  | AttemptBegan
  | Retried
  | AttemptEnded
  | MessageDelivered
  | MessageSettled
  | Sampled
  | Printed
  | Tallied;

export type RunEventType = RunEvent['type'];

/** An event before its log has given it a time. */
export type Unstamped<E extends RunEvent = RunEvent> = E extends RunEvent ? Omit<E, 'at'> : never;
