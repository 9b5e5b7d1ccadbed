/**
 * The engine's public types: a cluster of real Postgres sessions. A native
 * server behind the npm package `pg` implements the same interface in the
 * behaviour suite.
 */

/** Ends a subscription. Calling it twice is harmless. */
export type Dispose = () => void;

/** One column of a result, as node-postgres describes it. */
export interface Field {
  readonly name: string;
  readonly tableID: number;
  readonly columnID: number;
  /** The type's OID in `pg_type`. */
  readonly dataTypeID: number;
  readonly dataTypeSize: number;
  readonly dataTypeModifier: number;
  readonly format: string;
}

/** A row, its values parsed as node-postgres parses them (`int8` and `numeric` stay strings). */
export type Row = Record<string, unknown>;

/** The result of one statement, in node-postgres' shape. */
export interface QueryResult<R extends Row = Row> {
  /** First word of the command tag: `SELECT`, `UPDATE`, `BEGIN`, ... Empty for an empty statement. */
  readonly command: string;
  /** Rows returned or changed; null for a command that counts none, as `BEGIN`. */
  readonly rowCount: number | null;
  readonly rows: R[];
  readonly fields: Field[];
}

/** A NOTICE, WARNING or other message that is not an error. */
export interface Notice {
  readonly severity: string;
  /** SQLSTATE, `00000` for a plain notice. */
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
}

/** What LISTEN receives. */
export interface Notification {
  readonly channel: string;
  readonly payload: string;
  /** The pid of the session that sent it. */
  readonly processId: number;
}

/**
 * What a session is doing. `idle` is between statements; `ended` means
 * terminated, or its cluster died: it takes no more calls.
 */
export type SessionState = 'idle' | 'running' | 'waiting' | 'ended';

/** One real Postgres session (a backend with its own pid, transaction and locks). */
export interface Session {
  /** 0-based position in the cluster. */
  readonly index: number;
  /** The backend's process id, as `pg_backend_pid()` reports it. */
  readonly pid: number;
  readonly state: SessionState;
  /**
   * Runs one statement. Without values it uses the simple protocol (several
   * statements then resolve to an array, as in node-postgres); with values the
   * extended protocol. Calls on one session run in the order they were made.
   *
   * @throws DatabaseError with `code` (SQLSTATE), `detail`, `hint`, `position`, `constraint`;
   *   SessionEndedError when the session has ended or its cluster has died.
   */
  query<R extends Row = Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>>;
  /** Runs any number of statements in one simple-protocol message; one result each. */
  exec(sql: string): Promise<QueryResult[]>;
  /** Notices as they are raised, also while the statement that raised them still waits. */
  onNotice(listener: (notice: Notice) => void): Dispose;
  onNotification(listener: (notification: Notification) => void): Dispose;
}

/** What one session waits for, as `pg_locks`, `pg_stat_activity` and `pg_blocking_pids()` say it. */
export interface LockWait {
  /** The pid of the session that waits. */
  readonly pid: number;
  /** `pg_locks.locktype`: `transactionid`, `tuple`, `relation`, `advisory`, `virtualxid`, ... */
  readonly lockType: string;
  /** `pg_locks.mode`, for example `ShareLock`. */
  readonly mode: string;
  /** The relation that the lock names, if it names one. */
  readonly relation: string | null;
  /** Block and line pointer of a tuple lock. */
  readonly page: number | null;
  readonly tuple: number | null;
  /** The transaction that a `transactionid` lock waits for, as text. */
  readonly transaction: string | null;
  /** `pg_blocking_pids(pid)`, sorted. */
  readonly blockedBy: readonly number[];
  /** The statement that waits. */
  readonly query: string;
}

/** One session, as far as a message about a stuck run needs it. */
export interface SessionReport {
  readonly session: number;
  readonly state: SessionState;
  readonly inTransaction: boolean;
  readonly wait: LockWait | null;
  /** Sessions that block it, by index. */
  readonly blockedBy: readonly number[];
}

export interface Versions {
  /** The npm version of PGlite, or null on a native server. */
  readonly pglite: string | null;
  /** `server_version`, for example `18.0`. */
  readonly postgres: string;
}

/** Several sessions of one database. */
export interface Cluster {
  readonly sessions: readonly Session[];
  readonly versions: Versions;
  /** Every session that waits for a lock now. Never waits itself; takes no lock on user tables. */
  waits(): Promise<LockWait[]>;
  /** Cancels what the session runs (57014), as `pg_cancel_backend` does. False when it ran nothing. */
  cancel(session: Session): Promise<boolean>;
  /**
   * Makes the cluster as new for the next run: what runs is cancelled, open
   * transactions are rolled back, session state is discarded, ended sessions
   * are replaced, and the schema `public` is empty.
   */
  reset(): Promise<void>;
  close(): Promise<void>;
}
