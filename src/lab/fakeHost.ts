/** For tests: a host with a clock of events and scripted answers, without a database. */
import { eventLoopTurn } from '../engine/eventLoop.ts';
import type { LockWait, QueryResult, Row, SessionReport } from '../engine/types.ts';
import type { RunEvent, RunParameters, TransactionStatus } from '../events/events.ts';
import type { LabHost, Timer, Unstamped } from './host.ts';
import { seededStream } from './seededStream.ts';
import { statusAfter, statusAfterError } from './transactionStatus.ts';

export interface FakeCall {
  readonly session: number;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly customer: number | null;
}

/** The statement waits for a lock while `blocked()`, and is then answered. */
export interface FakeWait {
  readonly blockedBy: readonly number[];
  blocked(): boolean;
  answer(): FakeAnswer;
}

/** Rows, a result's own fields, an error to throw, or a wait. */
export type FakeAnswer = readonly Row[] | Partial<QueryResult> | Error | FakeWait;

export interface FakeOptions {
  readonly sessions?: number;
  readonly seed?: number;
  readonly parameters?: RunParameters;
  /** Microseconds that every statement takes. */
  readonly latency?: number;
  readonly answer?: (call: FakeCall) => FakeAnswer;
}

interface Due {
  readonly at: number;
  readonly run: () => void;
}

interface Running extends FakeCall {
  wait: FakeWait | null;
  readonly settle: (answer: QueryResult | Error) => void;
}

export class FakeHost implements LabHost {
  readonly clock = 'virtual';
  readonly seed: number;
  readonly sessions: number;
  readonly parameters: RunParameters;
  readonly log: RunEvent[] = [];
  readonly renewed: number[] = [];
  readonly #answer: (call: FakeCall) => FakeAnswer;
  readonly #latency: number;
  readonly #status: TransactionStatus[];
  readonly #running = new Map<number, Running>();
  readonly #lookers = new Set<() => void>();
  readonly #stuck = new Set<(sessions: readonly SessionReport[]) => void>();
  #agenda: Due[] = [];
  #now = 0;
  #kicked = false;
  #queries = 0;

  constructor({ sessions = 8, seed = 1, parameters = {}, latency = 100, answer = () => [] }: FakeOptions = {}) {
    this.seed = seed;
    this.sessions = sessions;
    this.parameters = parameters;
    this.#latency = latency;
    this.#answer = answer;
    this.#status = Array.from({ length: sessions }, () => 'I');
  }

  /** Events of one type, in order. */
  events<T extends RunEvent['type']>(type: T): Extract<RunEvent, { type: T }>[] {
    return this.log.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
  }

  /** Things that are still to come. */
  get pending(): number {
    return this.#agenda.length;
  }

  now(): number {
    return this.#now;
  }

  dateNow(): number {
    return Date.UTC(2030, 0, 1) + this.#now / 1000;
  }

  query(
    session: number,
    text: string,
    values: readonly unknown[] | undefined,
    { customer, line }: { readonly customer: number | null; readonly line: number | null },
  ): Promise<QueryResult> {
    const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
    if (this.#running.has(session)) throw new Error(`Session ${session} already runs a statement.`);
    const settle = (answer: QueryResult | Error): void => (answer instanceof Error ? reject(answer) : resolve(answer));
    const running: Running = { session, text, values: values ?? [], customer, wait: null, settle };
    this.#running.set(session, running);
    const query = this.#queries++;
    this.emit({ type: 'query-sent', session, customer, query, sql: text, values: [], line });
    this.#at(this.#latency, () => this.#reply(running, this.#answer(running)));
    return promise;
  }

  async renew(session: number): Promise<boolean> {
    this.renewed.push(session);
    this.#running.delete(session);
    this.#status[session] = 'I';
    await this.startTimer(0).due;
    return true;
  }

  untilWaiting(session: number): Promise<boolean> {
    return new Promise((resolve) => {
      const look = (): void => {
        const running = this.#running.get(session);
        if (running && !running.wait) return;
        this.#lookers.delete(look);
        this.#at(0, () => resolve(running !== undefined));
      };
      this.#lookers.add(look);
      look();
      this.#kick();
    });
  }

  startTimer(microseconds: number): Timer {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const due = this.#at(microseconds, () => resolve(undefined));
    return { due: promise, cancel: () => void (this.#agenda = this.#agenda.filter((other) => other !== due)) };
  }

  emit(event: Unstamped): void {
    this.log.push({ ...event, at: this.#now });
  }

  random(stream: string): () => number {
    return seededStream(this.seed, stream);
  }

  onStuck(listener: (sessions: readonly SessionReport[]) => void): () => void {
    this.#stuck.add(listener);
    this.#kick();
    return () => void this.#stuck.delete(listener);
  }

  #at(microseconds: number, run: () => void): Due {
    const due = { at: this.#now + microseconds, run };
    const place = this.#agenda.findIndex(({ at }) => at > due.at);
    this.#agenda.splice(place < 0 ? this.#agenda.length : place, 0, due);
    this.#kick();
    return due;
  }

  #kick(): void {
    if (this.#kicked) return;
    this.#kicked = true;
    void eventLoopTurn().then(() => {
      this.#kicked = false;
      this.#step();
    });
  }

  #step(): void {
    const due = this.#agenda.shift();
    if (!due) return this.#tellStuck();
    this.#now = due.at;
    due.run();
    this.#lookAgain();
    this.#kick();
  }

  #lookAgain(): void {
    for (const running of this.#running.values()) {
      if (running.wait && !running.wait.blocked()) this.#reply(running, running.wait.answer());
    }
    for (const look of [...this.#lookers]) look();
  }

  #reply(running: Running, answer: FakeAnswer): void {
    if (this.#running.get(running.session) !== running) return;
    if (isWait(answer) && answer.blocked()) {
      running.wait = answer;
      return;
    }
    if (isWait(answer)) return this.#reply(running, answer.answer());
    this.#running.delete(running.session);
    const settled = answer instanceof Error ? answer : resultOf(running.text, answer);
    const before = this.#status[running.session] ?? 'I';
    this.#status[running.session] =
      settled instanceof Error ? statusAfterError(before, running.text) : statusAfter(before, running.text, settled);
    this.#at(0, () => running.settle(settled));
  }

  #tellStuck(): void {
    const reports = this.#status.map((_status, session) => this.#report(session));
    for (const listener of this.#stuck) listener(reports);
  }

  #report(session: number): SessionReport {
    const running = this.#running.get(session);
    const blockedBy = running?.wait?.blockedBy ?? [];
    const wait: LockWait | null = running?.wait ? waitOf(session, blockedBy, running.text) : null;
    const state = wait ? 'waiting' : running ? 'running' : 'idle';
    return { session, state, inTransaction: this.#status[session] !== 'I', wait, blockedBy };
  }
}

function isWait(answer: FakeAnswer): answer is FakeWait {
  return 'blocked' in answer;
}

function waitOf(pid: number, blockedBy: readonly number[], query: string): LockWait {
  const nowhere = { relation: null, page: null, tuple: null, transaction: '700' };
  return { pid, lockType: 'transactionid', mode: 'ShareLock', ...nowhere, blockedBy, query };
}

function resultOf(text: string, answer: readonly Row[] | Partial<QueryResult>): QueryResult {
  const command = /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? '';
  const rows = Array.isArray(answer) ? (answer as Row[]) : [];
  return { command, rows, rowCount: rows.length, fields: [], ...(Array.isArray(answer) ? {} : answer) };
}
