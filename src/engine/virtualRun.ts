/**
 * One run on the virtual clock: carries out what the cell's code asks for, with
 * the latencies of a client and its server between, and writes down what happens.
 */
import type { RunEvent, RunParameters, TransactionStatus, Unstamped } from '../events/events.ts';
import { EngineError } from './errors.ts';
import { DEFAULT_LATENCY, draw, type Latency } from './latency.ts';
import { packError } from './packError.ts';
import type { Port } from './port.ts';
import { seededRandom } from './random.ts';
import type { CellAction, FromCell, ToCell } from './runProtocol.ts';
import { NOBODY, seededPolicy, type Actor, type Policy } from './schedule.ts';
import { describeOutcome, nameOfLock, settle, transactionAction, type LoggedQuery, type Settled } from './runEvents.ts';
import { toLogged } from './toLogged.ts';
import type { LockWait, QueryResult, Row, Session, SessionReport, Versions } from './types.ts';
import type { Driver, VirtualConductor } from './virtualConductor.ts';

export interface RunOptions {
  /** Lesson and cell, for the log. */
  readonly cell: string;
  /** Whole number. */
  readonly seed: number;
  readonly parameters?: RunParameters;
  readonly latency?: Latency;
  /** Default: what time says, ties broken by the seed. */
  readonly policy?: Policy;
  /** A statement with columns `stock` and `sold` (whole numbers) and whatever else the lesson counts. */
  readonly tally?: string;
  readonly onEvent: (event: RunEvent) => void;
}

/** What a run needs of its cluster. */
export interface RunHost {
  readonly conductor: VirtualConductor;
  readonly sessions: readonly (Session & { readonly transactionStatus: TransactionStatus })[];
  readonly versions: Versions;
  /** Runs a statement in the observer's session: takes no virtual time. */
  observe(sql: string): Promise<Row[]>;
  waits(): Promise<LockWait[]>;
  /** Makes a session as new: what runs is cancelled, what is open rolled back, an ended one replaced. Takes no virtual time. */
  renew(session: number): Promise<void>;
}

export interface RunResult {
  readonly status: 'done' | 'failed' | 'stopped';
  readonly message: string | null;
  /** The choices made, for `scriptedPolicy`. */
  readonly choices: readonly number[];
}

/** Samples of stock and orders are taken at most this often at first (µs), and half as often after each 64. */
const SAMPLE_EVERY = 2000;
const SAMPLES = 64;
/** Real seconds that the cell's code may go without a turn before it counts as an endless loop; at its start it is still loaded. */
const SILENCE_S = 10;
const LOADING_S = 30;
/** Real milliseconds that a stuck run is given, for code that awaits something outside the run. */
const STUCK_GRACE_MS = 250;

interface Query extends LoggedQuery {
  /** The cell's. */
  readonly id: number;
  /** The lock that it waits for, by `nameOfLock`. */
  wait: string | null;
}

export class VirtualRun {
  readonly #host: RunHost;
  readonly #port: Port<ToCell, FromCell>;
  readonly #options: RunOptions;
  readonly #latency: Latency;
  readonly #start: number;
  readonly #choices: number[] = [];
  readonly #ended = Promise.withResolvers<RunResult>();
  /** One stream for each session, and one for all sleeps. */
  readonly #streams: readonly (() => number)[];
  readonly #sleeps: () => number;
  /** Ids of the conductor's for the cell's timers. */
  readonly #timers = new Map<number, number>();
  /** The statement that each session runs. */
  readonly #queries = new Map<number, Query>();
  /** Sessions with a statement between its sending and its answer. */
  readonly #inFlight = new Set<number>();
  /** Who wants to know whether a session's statement waits: ids of the cell's, by session. */
  readonly #questions = new Map<number, number[]>();
  #turn: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Whether the cell has said what it has to say since it was last told something. */
  #turnIsOver = false;
  #hasSpoken = false;
  /** For how many looks of the watchdog it has not. */
  #silence = 0;
  readonly #watchdog: ReturnType<typeof setInterval>;
  #queryCount = 0;
  #isOver = false;
  #waitsChanged = false;
  #nextSample = 0;
  #sampleEvery = SAMPLE_EVERY;
  #samples = 0;
  #stockBefore = 0;

  /** Begins the run: the cell behind `port` gets its `begin`. */
  static async begin(host: RunHost, port: Port<ToCell, FromCell>, options: RunOptions): Promise<VirtualRun> {
    const [before] = options.tally === undefined ? [] : await host.observe(options.tally);
    return new VirtualRun(host, port, options, Number(before?.['stock'] ?? 0));
  }

  private constructor(host: RunHost, port: Port<ToCell, FromCell>, options: RunOptions, stockBefore: number) {
    this.#host = host;
    this.#port = port;
    this.#options = options;
    this.#latency = options.latency ?? DEFAULT_LATENCY;
    this.#stockBefore = stockBefore;
    this.#streams = host.sessions.map((_, index) => seededRandom(options.seed * 7919 + index));
    this.#sleeps = seededRandom(options.seed ^ 0x5bd1e995);
    port.onMessage((message) => this.#takeTurn(message));
    this.#watchdog = setInterval(() => this.#watch(), 1000);
    this.#start = host.conductor.begin(this.#driver());
    this.#emit({ type: 'run-started', ...this.#describe(), session: null, customer: null });
    this.#tell({ type: 'begin', ...this.#describe(), epochMs: this.#epochMs });
  }

  /** Resolves when the run is over, however it ended. */
  get result(): Promise<RunResult> {
    return this.#ended.promise;
  }

  /** Ends the run now: its cell was ended. What sessions still do is for the cluster's reset to end. */
  stop(): void {
    void this.#end('stopped', 'stopped by the reader');
  }

  get #now(): number {
    return this.#host.conductor.clock.now();
  }

  get #epochMs(): number {
    return this.#host.conductor.clock.epochMs + this.#start / 1000;
  }

  #describe() {
    const { cell, seed, parameters = {} } = this.#options;
    const { sessions, versions } = this.#host;
    return { cell, seed, clock: 'virtual', sessions: sessions.length, parameters, versions } as const;
  }

  #driver(): Driver {
    return {
      quiet: () => (this.#turnIsOver ? undefined : this.#turn.promise),
      policy: this.#options.policy ?? seededPolicy,
      onChoice: (choice) => this.#choices.push(choice),
      onWait: () => (this.#waitsChanged = true),
      beforeAdvance: () => this.#lookAtWaits(),
      onStuck: () => void this.#explainStuck(),
      onError: (error) => void this.#end('failed', error.message),
    };
  }

  #emit(event: Unstamped): void {
    this.#options.onEvent({ ...event, at: this.#now - this.#start } as RunEvent);
  }

  /** Sends to the cell; nothing happens until it has answered. */
  #tell(message: ToCell): void {
    this.#turn = Promise.withResolvers();
    this.#turnIsOver = false;
    this.#silence = message.type === 'begin' ? SILENCE_S - LOADING_S : 0;
    this.#port.postMessage(message);
  }

  #takeTurn({ actions }: FromCell): void {
    if (this.#isOver) return;
    this.#hasSpoken = true;
    for (const action of actions) this.#act(action);
    this.#endTurn();
    this.#host.conductor.wake();
  }

  #endTurn(): void {
    this.#turnIsOver = true;
    this.#turn.resolve();
  }

  /** An endless loop says nothing: the run is ended from here, and its worker by whoever started it. */
  #watch(): void {
    this.#silence += 1;
    if (this.#turnIsOver || this.#silence < SILENCE_S) return;
    const message = this.#hasSpoken
      ? `The cell has computed for ${SILENCE_S} seconds without awaiting anything. Is there a loop that never ends?`
      : `The cell has done nothing with the lab for ${LOADING_S} seconds: it computes without end, or awaits something that never comes.`;
    void this.#end('failed', message);
  }

  #act(action: CellAction): void {
    if (this.#isOver) return;
    switch (action.type) {
      case 'query':
        return this.#send(action);
      case 'timer':
        return this.#startTimer(action);
      case 'cancel-timer':
        return this.#host.conductor.cancel(this.#timers.get(action.id) ?? -1);
      case 'renew':
        return void this.#renew(action);
      case 'until-waiting':
        return this.#askUntilWaiting(action);
      case 'emit':
        return this.#emit(action.event);
      case 'end':
        return void this.#end(action.message === null ? 'done' : 'failed', action.message);
    }
  }

  #startTimer({ id, microseconds, customer }: CellAction & { type: 'timer' }): void {
    const due = (): void => {
      this.#timers.delete(id);
      this.#tell({ type: 'due', id, now: this.#now - this.#start });
    };
    this.#timers.set(
      id,
      this.#host.conductor.at(this.#now + Math.round(microseconds), this.#sleeps(), actorOf(customer), due),
    );
  }

  async #renew({ id, session, customer }: CellAction & { type: 'renew' }): Promise<void> {
    const wasOpen = this.#host.sessions[session]?.transactionStatus !== 'I';
    await this.#host.renew(session);
    if (this.#isOver) return;
    if (wasOpen) this.#emit({ type: 'transaction', action: 'rollback', session, customer });
    this.#host.conductor.at(this.#now, 0, actorOf(customer), () =>
      this.#tell({ type: 'ready', id, now: this.#now - this.#start }),
    );
  }

  /** Known as soon as the statement waits or is answered; `false` when there is none. */
  #askUntilWaiting({ id, session }: CellAction & { type: 'until-waiting' }): void {
    if (this.#isWaiting(session)) this.#answerWaiting(id, true);
    else if (this.#inFlight.has(session)) this.#questions.set(session, [...(this.#questions.get(session) ?? []), id]);
    else this.#answerWaiting(id, false);
  }

  #isWaiting(session: number): boolean {
    return (
      this.#queries.get(session)?.wait !== undefined &&
      this.#queries.get(session)?.wait !== null &&
      this.#host.sessions[session]?.state === 'waiting'
    );
  }

  #settleQuestions(session: number, waits: boolean): void {
    for (const id of this.#questions.get(session) ?? []) this.#answerWaiting(id, waits);
    this.#questions.delete(session);
  }

  #answerWaiting(id: number, waits: boolean): void {
    this.#host.conductor.at(this.#now, 0, NOBODY, () =>
      this.#tell({ type: 'waits', id, now: this.#now - this.#start, waits }),
    );
  }

  /** A statement sets out for its backend. */
  #send(action: CellAction & { type: 'query' }): void {
    const { id, session, customer, text, values, line } = action;
    const random = this.#streams[session];
    if (random === undefined)
      throw new EngineError('BAD_ARGUMENT', `no session ${session} among ${this.#streams.length}`);
    const query: Query = { id, number: this.#queryCount++, session, customer, wait: null };
    const logged = (values ?? []).map((value) => toLogged(value, this.#epochMs));
    this.#emit({ type: 'query-sent', query: query.number, sql: text, values: logged, line, session, customer });
    this.#inFlight.add(session);
    const at = this.#now + draw(this.#latency.networkMs, random);
    this.#host.conductor.at(at, random(), actorOf(customer), () => void this.#arrive(query, text, values));
  }

  async #arrive(query: Query, text: string, values: readonly unknown[] | undefined): Promise<void> {
    const session = this.#host.sessions[query.session];
    if (session === undefined) return;
    const before = session.transactionStatus;
    this.#queries.set(query.session, query);
    this.#emit({ type: 'query-started', query: query.number, session: query.session, customer: query.customer });
    const outcome = await settle(values === undefined ? session.exec(text) : oneResult(session.query(text, values)));
    if (this.#isOver) return;
    this.#queries.delete(query.session);
    this.#inFlight.delete(query.session);
    this.#settleQuestions(query.session, false);
    this.#endWait(query);
    this.#noteTransaction(query, before, session.transactionStatus, outcome);
    this.#sample(outcome);
    this.#answer(query, outcome, session.transactionStatus);
  }

  /** The answer sets out for the client. */
  #answer(query: Query, outcome: Settled, transaction: TransactionStatus): void {
    const random = this.#streams[query.session] as () => number;
    const finishedAt = this.#now - this.#start;
    const at = this.#now + draw(this.#latency.serviceMs, random) + draw(this.#latency.networkMs, random);
    this.#host.conductor.at(at, random(), actorOf(query.customer), () => {
      const now = this.#now - this.#start;
      this.#emit(describeOutcome(query, outcome, { finishedAt, transaction, epochMs: this.#epochMs }));
      if ('error' in outcome) this.#tell({ type: 'error', id: query.id, now, error: packError(outcome.error) });
      else this.#tell({ type: 'answer', id: query.id, now, results: outcome.results });
    });
  }

  #noteTransaction(query: Query, before: TransactionStatus, after: TransactionStatus, outcome: Settled): void {
    const action = transactionAction(before, after, outcome);
    if (action !== null) this.#emit({ type: 'transaction', action, session: query.session, customer: query.customer });
  }

  /** Whether waits have changed at this moment; if so it asks Postgres about them. */
  #lookAtWaits(): boolean {
    const asks = this.#waitsChanged && this.#waiting().length > 0;
    this.#waitsChanged = false;
    if (asks) void this.#host.waits().then((waits) => this.#noteWaits(waits));
    return asks;
  }

  #waiting(): Query[] {
    return [...this.#queries.values()].filter(({ session }) => this.#host.sessions[session]?.state === 'waiting');
  }

  #noteWaits(waits: readonly LockWait[]): void {
    if (this.#isOver) return;
    for (const query of this.#waiting().sort((a, b) => a.session - b.session)) {
      const pid = this.#host.sessions[query.session]?.pid;
      this.#noteWait(
        query,
        waits.find((wait) => wait.pid === pid),
      );
    }
  }

  /** Logs for what a statement waits, unless that is known. */
  #noteWait(query: Query, wait: LockWait | undefined): void {
    const name = wait === undefined ? null : nameOfLock(wait);
    if (name === query.wait) return;
    this.#endWait(query);
    if (wait === undefined) return;
    query.wait = name;
    this.#settleQuestions(query.session, true);
    const { lockType, mode, relation } = wait;
    const { number, session, customer } = query;
    const blockedBy = this.#sessionsOf(wait.blockedBy);
    this.#emit({ type: 'lock-wait', query: number, lockType, mode, relation, blockedBy, session, customer });
  }

  #endWait(query: Query): void {
    if (query.wait === null) return;
    query.wait = null;
    this.#emit({ type: 'lock-wait-ended', query: query.number, session: query.session, customer: query.customer });
  }

  #sessionsOf(pids: readonly number[]): number[] {
    return pids
      .map((pid) => this.#host.sessions.findIndex((session) => session.pid === pid))
      .filter((index) => index >= 0);
  }

  /** Looks at stock and orders after a commit, if it has not for a while. */
  #sample(outcome: Settled): void {
    const { tally } = this.#options;
    if (tally === undefined || 'error' in outcome || this.#now < this.#nextSample) return;
    if (!outcome.results.some(({ command }) => command === 'COMMIT' || command === 'UPDATE')) return;
    this.#nextSample = this.#now + this.#sampleEvery;
    this.#samples += 1;
    if (this.#samples % SAMPLES === 0) this.#sampleEvery *= 2;
    void this.#host.observe(tally).then(([row]) => {
      if (row === undefined || this.#isOver) return;
      this.#emit({
        type: 'sample',
        stock: Number(row['stock']),
        orders: Number(row['sold']),
        session: null,
        customer: null,
      });
    });
  }

  async #explainStuck(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, STUCK_GRACE_MS));
    const { conductor } = this.#host;
    if (this.#isOver || !this.#turnIsOver || conductor.hasEvents || conductor.passIdleTime()) return;
    const waits = await this.#host.waits();
    if (this.#isOver || conductor.hasEvents) return;
    const sessions = this.#host.sessions.map((session): SessionReport => {
      const wait = waits.find(({ pid }) => pid === session.pid) ?? null;
      return {
        session: session.index,
        state: session.state,
        inTransaction: session.transactionStatus !== 'I',
        wait,
        blockedBy: this.#sessionsOf(wait?.blockedBy ?? []),
      };
    });
    this.#tell({ type: 'stuck', now: this.#now - this.#start, sessions });
  }

  async #end(status: RunResult['status'], message: string | null): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#watchdog);
    this.#host.conductor.end();
    this.#endTurn();
    if (this.#options.tally !== undefined && status === 'done') await this.#tally(this.#options.tally);
    this.#emit({ type: 'run-ended', status, message, session: null, customer: null });
    this.#ended.resolve({ status, message, choices: this.#choices });
  }

  async #tally(sql: string): Promise<void> {
    const [row = {}] = await this.#host.observe(sql);
    const { stock, sold, ...rest } = row;
    const extra = Object.fromEntries(
      Object.entries(rest).map(([name, value]) => [name, toLogged(value, this.#epochMs)]),
    );
    this.#emit({
      type: 'tally',
      stockBefore: this.#stockBefore,
      stockAfter: Number(stock),
      sold: Number(sold),
      extra,
      session: null,
      customer: null,
    });
  }
}

async function oneResult(result: Promise<QueryResult>): Promise<QueryResult[]> {
  return [await result];
}

function actorOf(customer: number | null): Actor {
  return customer ?? NOBODY;
}
