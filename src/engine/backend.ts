/**
 * One Postgres backend: an instance of PGlite whose stack can be suspended. It
 * runs when its conductor says so, until its message is answered or it has to
 * wait.
 */
import type { Calibration } from './landmarks.ts';
import { Landmarks } from './landmarks.ts';
import { bootPostgres } from './bootPostgres.ts';
import type { Clock } from './clock.ts';
import type { EngineCode } from './code.ts';
import { EngineError } from './errors.ts';
import { jspi } from './jspi.ts';
import type { LinearMemory } from './memory.ts';
import type { PostgresExports, PostgresModule, PostgresVariables } from './postgresModule.ts';
import type { ServerLog } from './serverLog.ts';
import type { Baton } from './shared.ts';
import { SessionFilesystem, type Store } from './store/index.ts';

/** How a turn ended: the message is answered, the backend waits, or its process has exited. */
export type Turn = 'done' | 'waiting' | 'exited';

/** What all backends of a cluster share. */
export interface BackendHost {
  readonly clock: Clock;
  readonly baton: Baton;
  readonly code: EngineCode;
  readonly bundle: ArrayBuffer;
  readonly store: Store;
  readonly calibration: Calibration;
  /** Arguments of the postgres process. */
  readonly startParams: readonly string[];
  readonly memoryLimit: number;
  readonly random: (into: Uint8Array) => void;
  /** `kill(2)`: passes a signal on. Returns 0, or -1 when there is no such process. */
  readonly kill: (from: Backend, pid: number, signal: number) => number;
}

export const SIGNAL = { interrupt: 2, user1: 10, terminate: 15 } as const;

/** WaitEventSet flags in storage/waiteventset.h. */
const WL = { latchSet: 1, timeout: 8 } as const;
/** `offsetof(PGPROC, wait_event_info)` of the pinned build; the cluster checks it at boot. */
const WAIT_EVENT_INFO = 548;
/** The exit status that stands for Postgres' longjmp to its main loop (pglitec.c). */
const MAIN_LONGJMP = 100;

interface Wait {
  readonly latch: number;
  /** Clock time in µs, or Infinity. */
  readonly timeoutAt: number;
  readonly end: (result: number) => void;
  readonly abandon: (error: Error) => void;
}

export class Backend {
  readonly pid: number;
  readonly memory: LinearMemory;
  readonly #host: BackendHost;
  readonly #files: SessionFilesystem;
  readonly #exports: PostgresExports;
  readonly #module: PostgresModule;
  readonly #log: ServerLog;
  readonly #mainLoopOnce: () => Promise<number>;
  readonly #mainLongJmp: () => Promise<number>;
  #exited = false;
  #wait: Wait | undefined;
  #pendingSignal = 0;
  /** SIGUSR1 has come: NOTIFY or invalidation messages wait in shared memory. */
  #hasMail = false;
  /** Signals that the client wants given to the message that runs, one each time that it begins to wait. */
  #atWait: number[] = [];
  /** When SIGALRM is due: clock time in µs, or Infinity. */
  #timerAt = Infinity;
  #input: Uint8Array = new Uint8Array(0);
  #inputAt = 0;
  #output: (bytes: Uint8Array) => void = () => {};
  #turn: PromiseWithResolvers<Turn> | undefined;

  /** Boots a backend. The first of a cluster makes shared memory, the others join it. */
  static async boot(host: BackendHost, pid: number): Promise<Backend> {
    const files = new SessionFilesystem(host.store);
    try {
      return await bootPostgres(host, files, (parts) => new Backend(host, files, pid, parts));
    } catch (error) {
      files.releaseAll();
      throw error;
    }
  }

  constructor(host: BackendHost, files: SessionFilesystem, pid: number, parts: BackendParts) {
    this.pid = pid;
    this.#host = host;
    this.#files = files;
    this.memory = parts.memory;
    this.#exports = parts.exports;
    this.#module = parts.module;
    this.#log = parts.log;
    this.landmarks = new Landmarks(this, host.baton, host.calibration);
    this.#mainLoopOnce = jspi.promising(parts.exports.PostgresMainLoopOnce);
    this.#mainLongJmp = jspi.promising(parts.exports.PostgresMainLongJmp);
  }

  /** Consulted while the backend starts. */
  readonly landmarks: Landmarks;

  get variables(): PostgresVariables {
    return this.#exports;
  }

  /** Value of an exported C variable of 32 bits. */
  variable(name: keyof PostgresVariables): number {
    return this.memory.getWord(this.#exports[name].value as number);
  }

  get isWaiting(): boolean {
    return this.#wait !== undefined;
  }

  get hasExited(): boolean {
    return this.#exited;
  }

  /** Whether a signal waits to be delivered that an idle backend has to act on. */
  get hasNews(): boolean {
    return this.#pendingSignal === SIGNAL.terminate || this.#hasMail;
  }

  /** When this backend has to be resumed if nothing else happens: clock time in µs, or Infinity. */
  get deadline(): number {
    return Math.min(this.#timerAt, this.#wait?.timeoutAt ?? Infinity);
  }

  /** Whether a waiting backend has a reason to go on. */
  get canResume(): boolean {
    if (this.#wait === undefined) return false;
    return this.#isLatchSet(this.#wait.latch) || this.#interrupted || this.deadline <= this.#host.clock.now();
  }

  get #interrupted(): boolean {
    return this.#pendingSignal === SIGNAL.interrupt || this.#pendingSignal === SIGNAL.terminate;
  }

  /** Called once, when PGlite has finished its start. */
  started(): void {
    this.#timerAt = Infinity;
    const { addFunction, _pgl_set_rw_cbs: setCallbacks } = this.#module;
    const read = addFunction((into = 0, max = 0) => this.#readInput(into, max), 'iii');
    const write = addFunction((from = 0, size = 0) => this.#writeOutput(from, size), 'iii');
    setCallbacks(read, write);
  }

  /** Gives the backend a signal; it acts on it at its next turn, or at once when it is the one that runs. */
  signal(signal: number): void {
    if (signal === SIGNAL.user1) this.#hasMail = true;
    if (signal !== SIGNAL.interrupt && signal !== SIGNAL.terminate) return;
    if (this.#pendingSignal !== SIGNAL.terminate) this.#pendingSignal = signal;
    if (this.#turn !== undefined && this.#wait === undefined) this.#deliverSignal();
  }

  /** Cancels the message that is on its way: now if it waits, else as soon as it does. */
  cancel(): void {
    if (this.#wait === undefined) this.#atWait = [SIGNAL.interrupt];
    else this.signal(SIGNAL.interrupt);
  }

  /** As `cancel`, and ends the session if it then waits once more: a function may catch its cancellation. */
  stop(): void {
    this.cancel();
    this.#atWait.push(SIGNAL.terminate);
  }

  /**
   * Runs a message of the client's until it is answered, or the backend waits or exits.
   * `output` gets a view of the backend's memory, valid during the call only.
   */
  start(message: Uint8Array, output: (bytes: Uint8Array) => void): Promise<Turn> {
    this.#input = message;
    this.#inputAt = 0;
    this.#output = output;
    const turn = this.#newTurn();
    this.#run().then(
      (result) => this.#endTurn(result),
      (error: unknown) => this.#turn?.reject(this.#fatal(error)),
    );
    return turn;
  }

  /** More of the client's message, for a backend that asks for it (COPY FROM STDIN). */
  feed(bytes: Uint8Array): void {
    const rest = this.#input.subarray(this.#inputAt);
    this.#input = new Uint8Array(rest.length + bytes.length);
    this.#input.set(rest);
    this.#input.set(bytes, rest.length);
    this.#inputAt = 0;
  }

  /**
   * Fires an overdue timer of an idle backend. True when it has to pass through
   * its main loop to act on it; mostly it is a rest that Postgres has forgotten
   * (timeout.c leaves the alarm of a disabled timeout running).
   */
  expireIdleTimer(): boolean {
    this.#fireTimer();
    return this.variable('InterruptPending') !== 0;
  }

  /** Lets a waiting backend look again. */
  resume(): Promise<Turn> {
    const turn = this.#newTurn();
    const wait = this.#wait;
    if (wait === undefined) throw new Error(`session ${this.pid} is resumed and does not wait`);
    try {
      const result = this.#lookAgain(wait);
      if (result === undefined) this.#endTurn('waiting');
      else {
        this.#wait = undefined;
        this.reportWaitEvent(0);
        wait.end(result);
      }
    } catch (error) {
      this.#turn?.reject(this.#fatal(error));
    }
    return turn;
  }

  /** Ends the instance. A suspended stack is unwound, so that nothing keeps it. */
  dispose(error: Error): void {
    this.#exited = true;
    const wait = this.#wait;
    this.#wait = undefined;
    wait?.abandon(error);
    this.#files.releaseAll();
  }

  /** The import behind WaitLatch(). */
  waitLatch(latch: number, events: number, timeoutMs: number, waitEvent: number): number | Promise<number> {
    if (this.#isLatchSet(latch)) return WL.latchSet;
    const limited = (events & WL.timeout) !== 0 && timeoutMs >= 0;
    const timeoutAt = limited ? this.#host.clock.now() + timeoutMs * 1000 : Infinity;
    return new Promise((end, abandon) => {
      this.#wait = { latch, timeoutAt, end, abandon };
      this.reportWaitEvent(waitEvent);
      const signal = this.#atWait.shift();
      if (signal !== undefined) this.signal(signal);
      this.#endTurn('waiting');
    });
  }

  /** What `pg_stat_activity.wait_event` shows of this backend: pgstat_report_wait_start() and, with 0, _end(). */
  reportWaitEvent(waitEvent: number): void {
    this.memory.setWord(this.variable('MyProc') + WAIT_EVENT_INFO, waitEvent);
  }

  kill(pid: number, signal: number): number {
    return this.#host.kill(this, pid, signal);
  }

  /** `setitimer(ITIMER_REAL)`: the one timer behind deadlock, lock and statement timeouts. */
  setTimer(delayMs: number): void {
    this.#timerAt = delayMs > 0 ? this.#host.clock.now() + Math.round(delayMs * 1000) : Infinity;
  }

  #newTurn(): Promise<Turn> {
    if (this.#turn !== undefined) throw new Error(`session ${this.pid} is already running`);
    this.#turn = Promise.withResolvers();
    return this.#turn.promise;
  }

  #endTurn(result: Turn): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (result !== 'waiting') this.#atWait = [];
    turn?.resolve(result);
  }

  async #run(): Promise<Turn> {
    this.#enter();
    do {
      if (!(await this.#loopOnce())) return 'exited';
    } while (this.#inputAt < this.#input.length || this.#module._pq_buffer_remaining_data() > 0);
    this.#module._PostgresSendReadyForQueryIfNecessary();
    this.#module._pgl_pq_flush();
    return 'done';
  }

  /** What a process does before anything else when it is scheduled: signals. */
  #enter(): void {
    this.#host.baton.take(this);
    this.#fireTimer();
    this.#hasMail = false;
    // NOTIFY, invalidation catch-up. Cheap when there is nothing.
    this.#exports.procsignal_sigusr1_handler(SIGNAL.user1);
    if (this.#pendingSignal === SIGNAL.terminate) this.#deliverSignal();
    // A cancel that comes while nothing runs is ignored, as by Postgres.
    else this.#pendingSignal = 0;
  }

  /** One pass of PostgresMain's loop. False when the process has exited. */
  async #loopOnce(): Promise<boolean> {
    this.#host.baton.take(this);
    const stack = this.#module.stackSave();
    try {
      await this.#mainLoopOnce();
    } catch (error) {
      const status = exitStatus(error);
      if (status === undefined) throw error;
      this.#module.stackRestore(stack);
      if (status !== MAIN_LONGJMP) return this.#exit();
      await this.#mainLongJmp();
    }
    return true;
  }

  #exit(): false {
    this.#exited = true;
    this.#timerAt = Infinity;
    this.#files.releaseAll();
    return false;
  }

  /** The result of the wait, or undefined when there is still reason to wait. */
  #lookAgain({ latch, timeoutAt }: Wait): number | undefined {
    this.#host.baton.take(this);
    if (this.#interrupted) {
      this.#deliverSignal();
      return WL.latchSet;
    }
    this.#fireTimer();
    if (this.#isLatchSet(latch)) return WL.latchSet;
    return this.#host.clock.now() >= timeoutAt ? WL.timeout : undefined;
  }

  #fireTimer(): void {
    const now = this.#host.clock.now();
    if (this.#timerAt > now) return;
    this.#timerAt = Infinity;
    this.#exports._emscripten_timeout(0, now / 1000);
  }

  /** What Postgres' handlers of SIGINT and SIGTERM do (StatementCancelHandler, die). */
  #deliverSignal(): void {
    const signal = this.#pendingSignal;
    this.#pendingSignal = 0;
    if (signal !== SIGNAL.interrupt && signal !== SIGNAL.terminate) return;
    const flag = signal === SIGNAL.interrupt ? 'QueryCancelPending' : 'ProcDiePending';
    this.memory.setWord(this.#exports[flag].value as number, 1);
    this.memory.setWord(this.#exports.InterruptPending.value as number, 1);
    this.memory.setWord(this.variable('MyLatch'), 1);
  }

  /** Anything but an exit leaves Postgres' error stack corrupt: the cluster cannot go on. */
  #fatal(error: unknown): EngineError {
    if (error instanceof EngineError) return error;
    const reason = this.#log.panic ?? explain(error);
    const text = `A session died inside Postgres (${reason}), and its cluster with it. Open a new cluster.`;
    return new EngineError('CLUSTER_FAILED', text, { cause: error });
  }

  /** A latch in shared memory is read where shared memory is current. */
  #isLatchSet(latch: number): boolean {
    if (latch === 0) return false;
    const { holder, layout } = this.#host.baton;
    const isShared =
      layout !== undefined && latch >= layout.block.start && latch < layout.block.start + layout.block.size;
    return ((isShared && holder) || this).memory.getWord(latch) !== 0;
  }

  #readInput(into: number, max: number): number {
    const size = Math.min(max, this.#input.length - this.#inputAt);
    this.memory.bytes.set(this.#input.subarray(this.#inputAt, this.#inputAt + size), into);
    this.#inputAt += size;
    return size;
  }

  #writeOutput(from: number, size: number): number {
    this.#output(this.memory.bytes.subarray(from, from + size));
    return size;
  }
}

/** What `bootPostgres` makes a backend of. */
export interface BackendParts {
  readonly memory: LinearMemory;
  readonly exports: PostgresExports;
  readonly module: PostgresModule;
  readonly log: ServerLog;
}

/** The status with which Emscripten's runtime was left, if it was that. */
export function exitStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined;
  return typeof error.status === 'number' ? error.status : undefined;
}

function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // A RangeError in V8 and JavaScriptCore, an InternalError in SpiderMonkey.
  return /call stack|too much recursion/i.test(message) ? 'its stack is exhausted' : message;
}
