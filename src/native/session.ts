/** One session of a native server: the engine's `Session` over node-postgres' `Client`. */
import pg from 'pg';
import { DATABASE_ERROR_FIELDS, DatabaseError, EngineError, type DatabaseErrorFields } from '../engine/errors.ts';
import type { Dispose, Notice, Notification, QueryResult, Row, Session, SessionState } from '../engine/types.ts';

type PgResult = pg.QueryResult<Row>;

type NoticeMessage = { readonly [name in keyof Notice]?: string | undefined };

/** Of node-postgres' message only what `Notice` names. */
function toNotice(message: NoticeMessage): Notice {
  const { severity = '', code = '', message: text = '', detail, hint } = message;
  return { severity, code, message: text, ...(detail && { detail }), ...(hint && { hint }) };
}

function toResult(result: PgResult): QueryResult {
  return { command: result.command ?? '', rowCount: result.rowCount, rows: result.rows, fields: result.fields };
}

const isFatal = (error: unknown) => error instanceof pg.DatabaseError && error.severity === 'FATAL';

export class NativeSession implements Session {
  readonly index: number;
  readonly pid: number;
  readonly #client: pg.Client;
  readonly #notices = new Set<(notice: Notice) => void>();
  readonly #notifications = new Set<(notification: Notification) => void>();
  /** Settles when the last call made so far has settled; never rejects. */
  #tail: Promise<unknown> = Promise.resolve();
  #calls = 0;
  #waits = false;
  #ended = false;

  private constructor(index: number, client: pg.Client, pid: number) {
    this.index = index;
    this.pid = pid;
    this.#client = client;
    client.on('error', () => (this.#ended = true));
    client.on('end', () => (this.#ended = true));
    client.on('notice', (message) => this.#notices.forEach((tell) => tell(toNotice(message))));
    client.on('notification', ({ channel, payload = '', processId }) =>
      this.#notifications.forEach((tell) => tell({ channel, payload, processId })),
    );
  }

  /** @param options start-up options, `-c name=value`: what `DISCARD ALL` goes back to. */
  static async connect(index: number, url: string, options: string): Promise<NativeSession> {
    const client = new pg.Client({ connectionString: url, options });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid;
    if (pid === undefined) throw new Error('expected one row of pg_backend_pid(), found none');
    return new NativeSession(index, client, pid);
  }

  get state(): SessionState {
    if (this.#ended) return 'ended';
    if (this.#calls === 0) return 'idle';
    return this.#waits ? 'waiting' : 'running';
  }

  /** The client cannot know that its statement waits: `waits()` of the cluster says so. */
  noteWaiting(waits: boolean): void {
    this.#waits = waits;
  }

  query<R extends Row = Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>> {
    return this.#inTurn(async () => {
      const result: PgResult | PgResult[] = await this.#client.query<Row>(text, values && [...values]);
      // Several statements resolve to an array, which node-postgres' types do not say either.
      return (Array.isArray(result) ? result.map(toResult) : toResult(result)) as QueryResult<R>;
    });
  }

  exec(sql: string): Promise<QueryResult[]> {
    return this.#inTurn(async () => {
      const result: PgResult | PgResult[] = await this.#client.query<Row>(sql);
      return [result].flat().map(toResult);
    });
  }

  onNotice(listener: (notice: Notice) => void): Dispose {
    this.#notices.add(listener);
    return () => void this.#notices.delete(listener);
  }

  onNotification(listener: (notification: Notification) => void): Dispose {
    this.#notifications.add(listener);
    return () => void this.#notifications.delete(listener);
  }

  /** Resolves when every call made so far has settled. */
  async quiet(): Promise<void> {
    await this.#tail;
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#client.end().catch(() => {});
  }

  async #inTurn<T>(call: () => Promise<T>): Promise<T> {
    this.#calls += 1;
    const turn = this.#tail.then(() => this.#guarded(call));
    this.#tail = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#calls -= 1;
      this.#waits = false;
    }
  }

  async #guarded<T>(call: () => Promise<T>): Promise<T> {
    if (this.#ended) throw this.#endedError();
    try {
      return await call();
    } catch (error) {
      if (isFatal(error)) this.#ended = true;
      if (error instanceof pg.DatabaseError) throw toDatabaseError(error);
      throw this.#ended ? this.#endedError(error) : error;
    }
  }

  #endedError(cause?: unknown): EngineError {
    return new EngineError(
      'SESSION_ENDED',
      `session ${this.index} (pid ${this.pid}) has ended; reset the cluster to replace it`,
      { cause },
    );
  }
}

/** As the engine's own, so that it keeps its fields across a thread's boundary. */
function toDatabaseError(error: pg.DatabaseError): DatabaseError {
  const fields: DatabaseErrorFields = {};
  for (const name of DATABASE_ERROR_FIELDS) {
    const value = error[name];
    if (value !== undefined) fields[name] = value;
  }
  return new DatabaseError(error.message, fields);
}
