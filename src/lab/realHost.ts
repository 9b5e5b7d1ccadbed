/** The lab's host on the machine's clock: sessions of the engine, or of a native server. */
import { EngineError } from '../engine/errors.ts';
import { toLogged, toLoggedRows } from '../engine/toLogged.ts';
import type { Cluster, Dispose, LockWait, QueryResult, Session } from '../engine/types.ts';
import type { RunEvent, RunParameters, TransactionStatus } from '../events/events.ts';
import { Gate } from './gate.ts';
import type { LabHost, Timer, Unstamped } from './host.ts';
import { isDatabaseError } from './labError.ts';
import { LockPoller } from './lockPoller.ts';
import { seededStream } from './seededStream.ts';
import { statusAfter, statusAfterError, transactionAction } from './transactionStatus.ts';

export interface RealHostOptions {
  readonly seed: number;
  readonly parameters: RunParameters;
  /** Gets every event, in order. */
  readonly log: (event: RunEvent) => void;
}

type From = Parameters<LabHost['query']>[3];
type Answer = QueryResult | QueryResult[];

/** The machine's own, before a cell's realm has them replaced. */
const { setTimeout, clearTimeout } = globalThis;
const machineNow = performance.now.bind(performance);

/** What one statement's events have in common. */
interface Sent {
  readonly session: number;
  readonly customer: number | null;
  readonly query: number;
  readonly text: string;
}

export class RealHost implements LabHost {
  readonly clock = 'real';
  readonly seed: number;
  readonly sessions: number;
  readonly parameters: RunParameters;
  readonly #cluster: Cluster;
  readonly #log: (event: RunEvent) => void;
  readonly #gate = new Gate();
  readonly #poller: LockPoller;
  readonly #disposers: readonly Dispose[];
  readonly #status: TransactionStatus[];
  readonly #startedAt = machineNow();
  readonly #epochMs = performance.timeOrigin + this.#startedAt;
  #queries = 0;

  constructor(cluster: Cluster, { seed, parameters, log }: RealHostOptions) {
    this.seed = seed;
    this.parameters = parameters;
    this.sessions = cluster.sessions.length;
    this.#cluster = cluster;
    this.#log = log;
    this.#poller = new LockPoller(cluster, machineNow, (ms) => new Promise((resolve) => setTimeout(resolve, ms)));
    this.#status = cluster.sessions.map(() => 'I');
    this.#disposers = cluster.sessions.map((session) => this.#logNotices(session));
  }

  /** Stops listening. Closes no session. */
  dispose(): void {
    for (const dispose of this.#disposers) dispose();
  }

  now(): number {
    return Math.round((machineNow() - this.#startedAt) * 1000);
  }

  dateNow(): number {
    return this.#epochMs + this.now() / 1000;
  }

  query(session: number, text: string, values: readonly unknown[] | undefined, from: From): Promise<Answer> {
    const sent = { session, customer: from.customer, query: this.#queries++, text };
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#emitSent(sent, values ?? [], from.line);
    const stop = this.#poller.watch({ session, onWait: (wait) => this.#emitWait(sent, wait) });
    const over = (settle: (finishedAt: number) => void): void => {
      const finishedAt = this.now();
      stop();
      this.#gate.pass(() => settle(finishedAt));
    };
    this.#session(session)
      .query(text, values)
      .then(
        (answer) => over((at) => this.#done(sent, at, answer, resolve)),
        (error: unknown) => over((at) => this.#failed(sent, at, error, reject)),
      );
    return promise;
  }

  async renew(session: number): Promise<boolean> {
    const target = this.#session(session);
    const ended = (): boolean => target.state === 'ended';
    try {
      if (target.state !== 'idle') await this.#cluster.cancel(target);
      if (this.#statusOf(session) !== 'I') await target.exec('ROLLBACK');
      await target.exec('DISCARD ALL');
    } catch {
      return false;
    } finally {
      this.#change({ session, customer: null }, 'I', null);
    }
    return !ended();
  }

  untilWaiting(session: number): Promise<boolean> {
    return this.#poller.untilWaiting(session);
  }

  /** 0 is the next turn of the event loop: `setTimeout` would make a millisecond of it. */
  startTimer(microseconds: number): Timer {
    let cancelled = false;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const due = (): void => this.#gate.pass(() => !cancelled && resolve(undefined));
    const id = microseconds === 0 ? undefined : setTimeout(due, microseconds / 1000);
    if (id === undefined) due();
    const cancel = (): void => {
      cancelled = true;
      clearTimeout(id);
    };
    return { due: promise, cancel };
  }

  emit(event: Unstamped): void {
    this.#log({ ...event, at: this.now() });
  }

  random(stream: string): () => number {
    return seededStream(this.seed, stream);
  }

  /** On the machine's clock something may always still happen. */
  onStuck(): () => void {
    return () => undefined;
  }

  #session(index: number): Session {
    const session = this.#cluster.sessions[index];
    if (session) return session;
    throw new EngineError('BAD_ARGUMENT', `Expected a session from 0 to ${this.sessions - 1}; found ${index}.`);
  }

  #emitSent({ session, customer, query, text }: Sent, values: readonly unknown[], line: number | null): void {
    const logged = values.map((value) => toLogged(value, this.#epochMs));
    this.emit({ type: 'query-sent', session, customer, query, sql: text, values: logged, line });
    this.emit({ type: 'query-started', session, customer, query });
  }

  #emitWait({ session, customer, query }: Sent, wait: LockWait | null): void {
    if (!wait) return this.emit({ type: 'lock-wait-ended', session, customer, query });
    const { lockType, mode, relation } = wait;
    const pids = this.#cluster.sessions.map(({ pid }) => pid);
    const blockedBy = wait.blockedBy.map((pid) => pids.indexOf(pid)).filter((index) => index >= 0);
    this.emit({ type: 'lock-wait', session, customer, query, lockType, mode, relation, blockedBy });
  }

  #done(sent: Sent, finishedAt: number, answer: Answer, resolve: (answer: Answer) => void): void {
    const { session, customer, query, text } = sent;
    const last = Array.isArray(answer) ? answer.at(-1) : answer;
    this.#change(sent, statusAfter(this.#statusOf(session), text, answer), last?.command ?? null);
    const { command = '', rowCount = null } = last ?? {};
    const rows = last ? toLoggedRows(last, this.#epochMs) : [];
    const transaction = this.#statusOf(session);
    const type = 'query-done';
    this.emit({ type, session, customer, query, finishedAt, command, rowCount, rows, transaction });
    resolve(answer);
  }

  #failed(sent: Sent, finishedAt: number, error: unknown, reject: (error: unknown) => void): void {
    this.#change(sent, statusAfterError(this.#statusOf(sent.session), sent.text), null);
    this.emit({ type: 'query-failed', ...this.#failure(sent, error), finishedAt });
    reject(error);
  }

  #failure({ session, customer, query }: Sent, error: unknown) {
    const fields = (isDatabaseError(error) ? error : {}) as Readonly<Record<string, string | undefined>>;
    const { code = 'XX000', detail = null, hint = null, constraint = null, position } = fields;
    const message = error instanceof Error ? error.message : String(error);
    const where = position === undefined ? null : Number(position);
    const known = { session, customer, query, transaction: this.#statusOf(session) };
    return { ...known, code, message, detail, hint, constraint, position: where };
  }

  #statusOf(session: number): TransactionStatus {
    return this.#status[session] ?? 'I';
  }

  #change(
    { session, customer }: Pick<Sent, 'session' | 'customer'>,
    to: TransactionStatus,
    command: string | null,
  ): void {
    const action = transactionAction(this.#statusOf(session), to, command);
    this.#status[session] = to;
    if (action) this.emit({ type: 'transaction', session, customer, action });
  }

  #logNotices(session: Session): Dispose {
    return session.onNotice(({ severity, message }) => {
      this.emit({ type: 'notice', session: session.index, customer: null, severity, message });
    });
  }
}
