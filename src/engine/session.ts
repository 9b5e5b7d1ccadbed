/** A session as the engine's users see it: calls in order, results, notices. */
import { SIGNAL, type Backend } from './backend.ts';
import type { Conductor } from './conductor.ts';
import { EngineError } from './errors.ts';
import { refuseUnsupported } from './refuse.ts';
import { AnswerReader, type TransactionStatus } from './results.ts';
import type { Dispose, Notice, Notification, QueryResult, Row, Session, SessionState } from './types.ts';
import { extendedQuery, refuseCopy, simpleQuery, syncMessage } from './wire.ts';

/**
 * DISCARD ALL resets the session's user to that of its login, and a backend in
 * single-user mode has not logged in.
 */
const FORGET_STATE = ['discard all', 'set session authorization postgres'];

/** What a session asks of its cluster. */
export interface SessionHost {
  readonly conductor: Conductor;
  bootBackend(pid: number): Promise<Backend>;
  /** A process id that no session has had. */
  nextPid(): number;
  /** Resolves when no reset is under way; rejects when the cluster has failed or is closed. */
  ready(): Promise<void>;
}

export class EngineSession implements Session {
  readonly index: number;
  readonly #host: SessionHost;
  readonly #notices = new Set<(notice: Notice) => void>();
  readonly #notifications = new Set<(notification: Notification) => void>();
  #pid: number;
  #backend: Promise<Backend> | undefined;
  #booted: Backend | undefined;
  #answers = this.#newAnswers();
  /** Settles when the last call made has settled. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Calls made and not settled. */
  #calls = 0;
  /** Whether a message is in the conductor's hands. */
  #running = false;
  #ended: EngineError | undefined;
  /** Counts resets: a call that was queued before one does not run after it. */
  #era = 0;
  /** Whether anything ran since the last reset. */
  #used = false;

  constructor(host: SessionHost, index: number) {
    this.#host = host;
    this.index = index;
    this.#pid = host.nextPid();
  }

  get pid(): number {
    return this.#pid;
  }

  get state(): SessionState {
    if (this.#ended !== undefined) return 'ended';
    if (this.#booted?.isWaiting) return 'waiting';
    return this.#calls > 0 || this.#running ? 'running' : 'idle';
  }

  /** As of the last answer: `I` idle, `T` in a transaction, `E` in a failed one. */
  get transactionStatus(): TransactionStatus {
    return this.#answers.status;
  }

  async query<R extends Row = Row>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>> {
    const results = await this.#call(
      () => (values === undefined ? simpleQuery(text) : extendedQuery(text, values)),
      text,
    );
    // node-postgres resolves to an array when the text held several statements.
    return (results.length === 1 ? results[0] : results) as QueryResult<R>;
  }

  exec(sql: string): Promise<QueryResult[]> {
    return this.#call(() => simpleQuery(sql), sql);
  }

  onNotice(listener: (notice: Notice) => void): Dispose {
    this.#notices.add(listener);
    return () => void this.#notices.delete(listener);
  }

  onNotification(listener: (notification: Notification) => void): Dispose {
    this.#notifications.add(listener);
    return () => void this.#notifications.delete(listener);
  }

  /** Boots the backend if that has not happened. */
  open(): Promise<Backend> {
    this.#backend ??= this.#boot();
    return this.#backend;
  }

  /** Asks for the end of what runs. False when nothing does. */
  cancel(): boolean {
    if (!this.#running || this.#booted === undefined) return false;
    this.#booted.cancel();
    this.#host.conductor.wake(this.#booted);
    return true;
  }

  /** `kill(2)` from another session. False when the pid is another's. */
  signal(pid: number, signal: number): boolean {
    const backend = this.#booted;
    if (pid !== this.#pid || backend === undefined || backend.hasExited) return false;
    if (signal === 0) return true;
    if (signal !== SIGNAL.interrupt || this.#running) backend.signal(signal);
    this.#host.conductor.wake(backend);
    return true;
  }

  /** From now on every call rejects with `error`. */
  end(error: EngineError): void {
    this.#ended ??= error;
  }

  /** A reset begins: what runs is stopped, what is queued will not run. Resolves when nothing runs. */
  drain(): Promise<unknown> {
    this.#era += 1;
    if (this.#running && this.#booted !== undefined) {
      this.#booted.stop();
      this.#host.conductor.wake(this.#booted);
    }
    return this.#tail;
  }

  /** After every session has drained: gives back its locks, for which another's `restore` might wait. */
  async rollBack(): Promise<void> {
    if (this.#booted?.hasNews) await this.#run(syncMessage()).catch(() => {});
    if (this.#ended === undefined && this.#answers.status !== 'I') await this.#clean('rollback');
  }

  /** After every session has rolled back: an ended session gets a new backend, another forgets its state. */
  async restore(): Promise<void> {
    if (this.#used) for (const sql of FORGET_STATE) await this.#clean(sql);
    if (this.#ended !== undefined) this.#replace();
    this.#used = false;
  }

  /** A session may end in the midst of it, by a timer of its own (`idle_session_timeout`). */
  async #clean(sql: string): Promise<void> {
    try {
      if (this.#ended === undefined) await this.runInternal(sql);
    } catch (error) {
      if (this.#ended === undefined) throw error;
    }
  }

  /** Runs a statement of the cluster's own, past the gate that a reset closes. @throws DatabaseError */
  async runInternal(sql: string): Promise<QueryResult[]> {
    return this.#run(simpleQuery(sql));
  }

  #replace(): void {
    this.#ended = undefined;
    this.#backend = undefined;
    this.#booted = undefined;
    this.#answers = this.#newAnswers();
    this.#pid = this.#host.nextPid();
  }

  #newAnswers(): AnswerReader {
    return new AnswerReader({
      onNotice: (notice) => tellAll(this.#notices, notice),
      onNotification: (notification) => tellAll(this.#notifications, notification),
      onCopyIn: () => this.#booted?.feed(refuseCopy()),
    });
  }

  async #boot(): Promise<Backend> {
    const backend = await this.#host.bootBackend(this.#pid);
    this.#booted = backend;
    this.#host.conductor.add(backend, {
      index: this.index,
      onOutput: (bytes) => this.#answers.read(bytes),
      onExit: () => this.#terminated(),
    });
    return backend;
  }

  #call(encode: () => Uint8Array, text: string): Promise<QueryResult[]> {
    const era = this.#era;
    this.#calls += 1;
    const call = this.#tail.then(async () => {
      // Before it waits for a reset: that waits for this call.
      this.#checkEra(era);
      await this.#host.ready();
      refuseUnsupported(text);
      await this.open();
      this.#checkEra(era);
      return this.#run(encode());
    });
    const settled = (): void => void (this.#calls -= 1);
    this.#tail = call.then(settled, settled);
    return call;
  }

  #checkEra(era: number): void {
    if (era !== this.#era) throw new EngineError('SESSION_ENDED', 'The cluster was reset before this statement began.');
  }

  async #run(message: Uint8Array): Promise<QueryResult[]> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#running = true;
    this.#used = true;
    try {
      const backend = await this.open();
      const alive = await this.#host.conductor.run(backend, message, (bytes) => this.#answers.read(bytes));
      if (!alive) this.#terminated();
      return this.#answers.finish();
    } finally {
      this.#running = false;
    }
  }

  #terminated(): void {
    const reason = this.#answers.error?.message ?? 'its process has exited';
    this.end(
      new EngineError(
        'SESSION_ENDED',
        `Session ${this.index} (pid ${this.#pid}) was terminated (${reason}); reset() replaces it.`,
      ),
    );
  }
}

/** What a listener throws is its own: it surfaces as an uncaught error, as an event listener's does. */
function tellAll<T>(listeners: ReadonlySet<(value: T) => void>, value: T): void {
  for (const listener of [...listeners]) {
    try {
      listener(value);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
