/** A native PostgreSQL server behind the engine's `Cluster` interface. */
import pg from 'pg';
import { DatabaseError, EngineError } from '../engine/errors.ts';
import type { Cluster, LockWait, Session, Versions } from '../engine/types.ts';
import { toLockWaits, WAITS_SQL } from '../engine/waits.ts';
import { NativeSession } from './session.ts';

export interface NativeClusterOptions {
  /** How many sessions. */
  readonly sessions: number;
  /** Session settings, for example `{ deadlock_timeout: '200ms' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly url: string;
  /**
   * The schema that `reset()` empties and that the sessions work in. Default:
   * one of its own, which `close()` drops; nothing else in the database is touched.
   */
  readonly schema?: string;
}

/** A schema that nobody else has: runs work in it on a server that is not theirs alone. */
function ownSchema(): string {
  return `oversold_${crypto.randomUUID().replaceAll('-', '')}`;
}

/** PostgreSQL 15 is the oldest that is tested. */
const OLDEST_VERSION = 15;

function emptySchema(schema: string): string {
  return `drop schema if exists ${schema} cascade; create schema ${schema}; grant usage on schema ${schema} to public`;
}
const CANCELED = '57014';

/** Start-up options, in which a backslash guards a space. */
function toStartupOptions(settings: Readonly<Record<string, string>>): string {
  const guard = (value: string) => value.replace(/[\\ ]/g, '\\$&');
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${guard(value)}`)
    .join(' ');
}

class NativeCluster implements Cluster {
  readonly versions: Versions;
  readonly #observer: pg.Client;
  readonly #connect: (index: number) => Promise<NativeSession>;
  readonly #schema: string;
  /** Whether it was made for this cluster, and goes with it. */
  readonly #ownsSchema: boolean;
  #sessions: NativeSession[];
  #observed: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    observer: pg.Client,
    version: string,
    sessions: NativeSession[],
    connect: (index: number) => Promise<NativeSession>,
    schema: string,
    ownsSchema: boolean,
  ) {
    this.#schema = schema;
    this.#ownsSchema = ownsSchema;
    this.versions = { pglite: null, postgres: version };
    this.#observer = observer;
    this.#sessions = sessions;
    this.#connect = connect;
  }

  get sessions(): readonly Session[] {
    return this.#sessions;
  }

  async waits(): Promise<LockWait[]> {
    this.#assertOpen();
    const { rows } = await this.#observe(WAITS_SQL);
    const waits = toLockWaits(rows);
    const waiting = new Set(waits.map((wait) => wait.pid));
    for (const session of this.#sessions) session.noteWaiting(waiting.has(session.pid));
    return waits;
  }

  async cancel(session: Session): Promise<boolean> {
    this.#assertOpen();
    if (session.state !== 'running' && session.state !== 'waiting') return false;
    await this.#observe('select pg_cancel_backend($1)', [session.pid]);
    return true;
  }

  async reset(): Promise<void> {
    this.#assertOpen();
    await Promise.all(this.#sessions.map((session) => this.#settle(session)));
    this.#sessions = await Promise.all(this.#sessions.map((session) => this.#renew(session)));
    await this.#observe(emptySchema(this.#schema));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all(this.#sessions.map((session) => session.close()));
    if (this.#ownsSchema) await this.#observe(`drop schema if exists ${this.#schema} cascade`).catch(() => {});
    await this.#observer.end().catch(() => {});
  }

  /** One statement of the observer's at a time: a client of pg's has no queue that lasts. */
  #observe(sql: string, values: unknown[] = []): Promise<pg.QueryResult<Record<string, unknown>>> {
    const result = this.#observed.then(() =>
      this.#observer.query<Record<string, unknown>>(sql, values.length > 0 ? values : undefined),
    );
    this.#observed = result.catch(() => {});
    return result;
  }

  /** Cancels until nothing is left: calls may be queued behind the one that runs. */
  async #settle(session: NativeSession): Promise<void> {
    while (await this.cancel(session)) {
      await Promise.race([session.quiet(), new Promise((resolve) => setTimeout(resolve, 20))]);
    }
  }

  /** A cancel that came late can hit the clean-up itself: then once more. */
  async #renew(session: NativeSession): Promise<NativeSession> {
    if (session.state === 'ended') return this.#replace(session);
    try {
      await session.exec('rollback');
      await session.exec('discard all');
      return session;
    } catch (error) {
      if (error instanceof DatabaseError && error.code === CANCELED) return this.#renew(session);
      return this.#replace(session);
    }
  }

  async #replace(session: NativeSession): Promise<NativeSession> {
    await session.close();
    return this.#connect(session.index);
  }

  #assertOpen(): void {
    if (this.#closed) throw new EngineError('CLUSTER_CLOSED', 'the cluster was closed; open a new one');
  }
}

/**
 * Connects `sessions` clients and one more that observes.
 *
 * @throws Error that says which server could not be reached, or is too old.
 */
export async function openNativeCluster(options: NativeClusterOptions): Promise<Cluster> {
  const { sessions, settings = {}, url, schema = ownSchema() } = options;
  const startup = toStartupOptions({ search_path: schema, ...settings });
  const connect = (index: number) => NativeSession.connect(index, url, startup);
  const observer = await reach(url);
  try {
    const version = await checkVersion(observer);
    const backends = await Promise.all(Array.from({ length: sessions }, (_, index) => connect(index)));
    return new NativeCluster(observer, version, backends, connect, schema, options.schema === undefined);
  } catch (error) {
    await observer.end();
    throw error;
  }
}

async function reach(url: string): Promise<pg.Client> {
  if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new Error(`Expected a URL like postgres://user:password@host:5432/database; got '${url}'.`);
  }
  const client = new pg.Client({ connectionString: url });
  // Without a listener a connection that breaks ends the process; its calls reject all the same.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    const { hostname, port, pathname } = new URL(url);
    const reason = error instanceof AggregateError ? error.errors.map(String).join('; ') : (error as Error).message;
    throw new Error(
      `No PostgreSQL answers at ${hostname}:${port || 5432}${pathname}: ${reason}. Is it running, and is the URL right?`,
      {
        cause: error,
      },
    );
  }
}

async function checkVersion(observer: pg.Client): Promise<string> {
  const { rows } = await observer.query<{ server_version: string }>('show server_version');
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) >= OLDEST_VERSION) return version;
  throw new Error(`PostgreSQL ${version} is too old: ${OLDEST_VERSION} or newer was expected.`);
}
