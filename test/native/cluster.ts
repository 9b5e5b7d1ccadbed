/** A native PostgreSQL server behind the engine's `Cluster` interface. */
import pg from 'pg';
import { EngineError } from '../../src/engine/errors.ts';
import type { Cluster, LockWait, Session, Versions } from '../../src/engine/types.ts';
import { toLockWaits, WAITS_SQL } from '../../src/engine/waits.ts';
import { NativeSession } from './session.ts';

export interface NativeClusterOptions {
  /** How many sessions. */
  readonly sessions: number;
  /** Session settings, for example `{ deadlock_timeout: '200ms' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A superuser's URL of a database whose schema `public` may be emptied. */
  readonly url: string;
}

const EMPTY_PUBLIC =
  'drop schema if exists public cascade; create schema public; grant usage on schema public to public';
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
  #sessions: NativeSession[];
  #closed = false;

  constructor(
    observer: pg.Client,
    version: string,
    sessions: NativeSession[],
    connect: (index: number) => Promise<NativeSession>,
  ) {
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
    const { rows } = await this.#observer.query<Record<string, unknown>>(WAITS_SQL);
    const waits = toLockWaits(rows);
    const waiting = new Set(waits.map((wait) => wait.pid));
    for (const session of this.#sessions) session.noteWaiting(waiting.has(session.pid));
    return waits;
  }

  async cancel(session: Session): Promise<boolean> {
    this.#assertOpen();
    if (session.state !== 'running' && session.state !== 'waiting') return false;
    await this.#observer.query('select pg_cancel_backend($1)', [session.pid]);
    return true;
  }

  async reset(): Promise<void> {
    this.#assertOpen();
    await Promise.all(this.#sessions.map((session) => this.#settle(session)));
    this.#sessions = await Promise.all(this.#sessions.map((session) => this.#renew(session)));
    await this.#observer.query(EMPTY_PUBLIC);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all(this.#sessions.map((session) => session.close()));
    await this.#observer.end();
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
      if (error instanceof pg.DatabaseError && error.code === CANCELED) return this.#renew(session);
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

/** Connects `sessions` clients and one more that observes. */
export async function openNativeCluster({ sessions, settings = {}, url }: NativeClusterOptions): Promise<Cluster> {
  const options = toStartupOptions(settings);
  const connect = (index: number) => NativeSession.connect(index, url, options);
  const observer = new pg.Client({ connectionString: url });
  await observer.connect();
  const { rows } = await observer.query<{ server_version: string }>('show server_version');
  const backends = await Promise.all(Array.from({ length: sessions }, (_, index) => connect(index)));
  return new NativeCluster(observer, rows[0]?.server_version ?? '', backends, connect);
}
