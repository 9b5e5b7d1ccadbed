/** A cluster: sessions over one store, one block of shared memory and one conductor. */
import type { EngineAssets } from './assets/types.ts';
import { Backend, type BackendHost } from './backend.ts';
import { compileCode, incompatible, type EngineCode } from './code.ts';
import type { Conductor } from './conductor.ts';
import { EngineError } from './errors.ts';
import { findMissingExports } from './postgresModule.ts';
import { RealConductor } from './realConductor.ts';
import { EMPTY_DATABASE, TIDY_CATALOGS, TIDY_EVERY } from './emptyDatabase.ts';
import { EngineSession, type SessionHost } from './session.ts';
import { startParams } from './settings.ts';
import { Baton } from './shared.ts';
import { requireJspi } from './support.ts';
import type { Port } from './port.ts';
import type { FromCell, ToCell } from './runProtocol.ts';
import type { Cluster, LockWait, QueryResult, Row, Session, Versions } from './types.ts';
import { VirtualConductor } from './virtualConductor.ts';
import { fillRandom, seededRandom } from './random.ts';
import { VirtualRun, type RunHost, type RunOptions } from './virtualRun.ts';
import { WAITS_SQL, toLockWaits } from './waits.ts';

export interface OpenOptions {
  /** How many sessions: 1 to 40. */
  readonly sessions: number;
  /** Postgres settings, as on its command line: `{ deadlock_timeout: '200ms' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * `real` (the default): sessions run when they can, on the machine's time.
   * `virtual`: a discrete-event simulation in which the same requests give the
   * same run (see `VirtualConductor`).
   */
  readonly clock?: 'real' | 'virtual';
  /** Whether sessions boot at once (the default), or each at its first call. */
  readonly boot?: 'eager' | 'lazy';
  /** Bytes that all tables together may take; more gives 53100. Default 256 MiB. */
  readonly storeLimit?: number;
  /** Bytes that one backend's memory may grow to; more gives 53200. From 128 MiB (where it begins) to 2 GiB; default 256 MiB. */
  readonly memoryLimit?: number;
}

/** PG_WAIT_LOCK with LOCKTAG_TUPLE (utils/wait_event_types.h, storage/lock.h). */
const TUPLE_LOCK_WAIT = 0x03000004;
const CHECK_WAIT_EVENT = `select current_setting('server_version') as version,
  (select wait_event from pg_stat_activity where pid = pg_backend_pid()) as wait`;

const MIB = 1 << 20;
/** Room for the write-ahead log beyond the limit: a log that cannot grow is a PANIC. */
const LOG_RESERVE = 64 * MIB;
/** The observer's; session 0 is 1001. */
const FIRST_PID = 1000;

/**
 * Opens a cluster in this thread from assets that were loaded before.
 *
 * @throws EngineError UNSUPPORTED_RUNTIME, BAD_ARGUMENT, INCOMPATIBLE_PGLITE, or
 *   CLUSTER_FAILED when Postgres refuses to start.
 */
export async function openClusterFrom(assets: EngineAssets, options: OpenOptions): Promise<EngineCluster> {
  requireJspi();
  const params = startParams(options.sessions, options.settings ?? {});
  const code = await codeOf(assets);
  const cluster = new EngineCluster(assets, code, params, options);
  try {
    await cluster.boot(options.boot ?? 'eager');
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** Compiled code, by the bytes that it was made from: a cluster that is opened again need not compile. */
const compiled = new WeakMap<Uint8Array, Promise<EngineCode>>();

function codeOf({ wasm }: EngineAssets): Promise<EngineCode> {
  const known = compiled.get(wasm) ?? checkedCode(wasm);
  compiled.set(wasm, known);
  return known;
}

async function checkedCode(wasm: Uint8Array): Promise<EngineCode> {
  const code = await compileCode(wasm);
  const missing = findMissingExports(code.postgres);
  if (missing.length > 0) throw incompatible(`no export ${missing.join(', ')}`);
  return code;
}

export class EngineCluster implements Cluster, SessionHost {
  readonly conductor: Conductor;
  readonly sessions: readonly EngineSession[];
  readonly #host: BackendHost;
  readonly #pgliteVersion: string;
  /**
   * A session of the cluster's own, and its leader: it makes shared memory and
   * recovers the store, looks on, and empties the database. No one can end it,
   * since its exit would shut the server down.
   */
  readonly #observer: EngineSession;
  #postgresVersion = '';
  #lastPid = FIRST_PID - 1;
  #dead: EngineError | undefined;
  #gate: Promise<void> = Promise.resolve();
  #waitsPrepared: Promise<unknown> | undefined;
  #resets = 0;
  /** The random numbers of backends on the virtual clock. */
  #entropy: () => number = seededRandom(0);
  #observed: Promise<unknown> = Promise.resolve();

  constructor(assets: EngineAssets, code: EngineCode, params: readonly string[], options: OpenOptions) {
    this.#pgliteVersion = assets.pgliteVersion;
    const onFatal = (error: Error): void => this.#fail(error);
    this.conductor = options.clock === 'virtual' ? new VirtualConductor(onFatal) : new RealConductor(onFatal);
    this.#host = {
      clock: this.conductor.clock,
      baton: new Baton(),
      code,
      bundle: assets.bundle,
      store: assets.store.open({ limitBytes: options.storeLimit ?? 256 * MIB, reserveBytes: LOG_RESERVE }),
      calibration: { exitCallbacks: undefined },
      startParams: params,
      memoryLimit: options.memoryLimit ?? 256 * MIB,
      random: this.isVirtual
        ? (into) => fillRandom(into, () => this.#entropy())
        : (into) => void crypto.getRandomValues(into as Uint8Array<ArrayBuffer>),
      kill: (_from, pid, signal) => this.#kill(pid, signal),
    };
    this.#observer = new EngineSession(this, -1);
    this.sessions = Array.from({ length: options.sessions }, (_, index) => new EngineSession(this, index));
  }

  /** Whether it conducts runs on the virtual clock. */
  get isVirtual(): boolean {
    return this.conductor instanceof VirtualConductor;
  }

  get versions(): Versions {
    return { pglite: this.#pgliteVersion, postgres: this.#postgresVersion };
  }

  /** Copies of shared memory so far. */
  get copied(): Readonly<Baton['copied']> {
    return this.#host.baton.copied;
  }

  /** Bytes that the files of the data directory use. */
  get storeBytes(): number {
    return this.#host.store.usedBytes;
  }

  async waits(): Promise<LockWait[]> {
    await this.ready();
    // Prepared once: planning that join takes longer than running it.
    this.#waitsPrepared ??= this.#observe(`prepare waits as ${WAITS_SQL}`);
    await this.#waitsPrepared;
    const [result] = await this.#observe('execute waits');
    return toLockWaits(result?.rows ?? []);
  }

  /** Runs a statement in the observer's session. On the virtual clock it takes no time. */
  async observe(sql: string): Promise<Row[]> {
    await this.ready();
    const results = await this.#observe(sql);
    return results.at(-1)?.rows ?? [];
  }

  /**
   * Begins a run whose code sits behind `port` (virtual clock only).
   *
   * @throws EngineError BAD_ARGUMENT on the real clock.
   */
  async startRun(port: Port<ToCell, FromCell>, options: RunOptions): Promise<VirtualRun> {
    await this.ready();
    const { conductor, sessions, versions } = this;
    if (!(conductor instanceof VirtualConductor))
      throw new EngineError('BAD_ARGUMENT', 'Only a cluster on the virtual clock conducts runs.');
    await this.#seed(options.seed);
    const host: RunHost = {
      conductor,
      sessions,
      versions,
      observe: (sql) => this.observe(sql),
      waits: () => this.waits(),
      renew: (index) => this.#renew(index),
    };
    return VirtualRun.begin(host, port, options);
  }

  async cancel(session: Session): Promise<boolean> {
    return this.#own(session).cancel();
  }

  /** Calls that come later wait for it; a second reset, too. */
  async reset(): Promise<void> {
    if (this.#dead !== undefined) throw this.#dead;
    const drained = this.sessions.map((session) => session.drain());
    const reset = this.#gate.then(() => this.#reset(drained));
    this.#gate = reset.catch(() => {});
    await reset;
  }

  async close(): Promise<void> {
    this.#end(new EngineError('CLUSTER_CLOSED', 'The cluster is closed.'));
  }

  /** The observer first: it leads. */
  async boot(mode: 'eager' | 'lazy'): Promise<void> {
    await this.#observe("set application_name = 'observer'");
    this.#postgresVersion = await this.#checkWaitEvent();
    if (mode === 'eager') for (const session of this.sessions) await session.open();
  }

  /** Shows a wait event on itself and looks whether Postgres sees it. Returns the server's version. */
  async #checkWaitEvent(): Promise<string> {
    // The first run reads the catalogs from files, each of which is a wait of its own.
    await this.#observe(CHECK_WAIT_EVENT);
    (await this.#observer.open()).reportWaitEvent(TUPLE_LOCK_WAIT);
    const [result] = await this.#observe(CHECK_WAIT_EVENT);
    const { wait, version } = result?.rows[0] ?? {};
    if (wait !== 'tuple') throw incompatible(`the wait event ${String(wait)} where tuple was reported`);
    return String(version);
  }

  nextPid(): number {
    return ++this.#lastPid;
  }

  #requireAlive(): void {
    if (this.#dead !== undefined) throw this.#dead;
  }

  async ready(): Promise<void> {
    this.#requireAlive();
    await this.#gate;
    this.#requireAlive();
  }

  /** A backend that fails at its start may leave itself behind in shared memory. */
  async bootBackend(pid: number): Promise<Backend> {
    try {
      return await Backend.boot(this.#host, pid);
    } catch (error) {
      this.#fail(error as Error);
      throw error;
    }
  }

  /** A cluster that cannot be made as new is of no use to the next run. */
  /** What Postgres draws by itself follows the run's seed: `gen_random_uuid()` and `random()`. */
  async #seed(seed: number): Promise<void> {
    const uniform = seededRandom(seed + 1);
    for (const session of this.sessions) await session.runInternal(`select setseed(${uniform()})`);
    // After that: a session that was replaced boots only now, and draws for its own start.
    this.#entropy = seededRandom(seed);
  }

  async #renew(index: number): Promise<void> {
    const session = this.sessions[index];
    await session?.drain();
    await session?.restore();
  }

  async #reset(drained: readonly Promise<unknown>[]): Promise<void> {
    try {
      await Promise.all(drained);
      for (const session of this.sessions) await session.rollBack();
      for (const session of this.sessions) await session.restore();
      for (const sql of EMPTY_DATABASE) await this.#observe(sql);
      if (++this.#resets % TIDY_EVERY === 0) await this.#observe(TIDY_CATALOGS);
    } catch (error) {
      this.#fail(error as Error);
      throw this.#dead ?? (error as Error);
    }
  }

  /** One statement of the observer's at a time. */
  #observe(sql: string): Promise<QueryResult[]> {
    const result = this.#observed.then(() => this.#observer.runInternal(sql));
    this.#observed = result.catch(() => {});
    return result;
  }

  #own(session: Session): EngineSession {
    const own = this.sessions[session.index];
    if (own !== session) throw new EngineError('BAD_ARGUMENT', `Session ${session.index} belongs to another cluster.`);
    return own;
  }

  /** Postgres signals a process or, with a negative pid, its group, which is itself. */
  #kill(pid: number, signal: number): number {
    const target = Math.abs(pid);
    if (target === this.#observer.pid) return 0;
    return this.sessions.some((session) => session.signal(target, signal)) ? 0 : -1;
  }

  #fail(error: Error): void {
    this.#end(
      error instanceof EngineError
        ? error
        : new EngineError('CLUSTER_FAILED', `The cluster died: ${error.message}. Open a new one.`, { cause: error }),
    );
  }

  #end(error: EngineError): void {
    if (this.#dead !== undefined) return;
    this.#dead = error;
    for (const session of [...this.sessions, this.#observer]) session.end(error);
    this.conductor.stop(error);
  }
}
