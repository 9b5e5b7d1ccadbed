/** Makes logs by hand, for tests. */
import type { QueryDone, QueryFailed, RunEvent, RunStarted, TransactionStatus } from '../events.ts';

/** An event as a test writes it: without time; session and customer only where they matter. */
export type Sketch<E extends RunEvent = RunEvent> = E extends RunEvent
  ? Omit<E, 'at' | 'session' | 'customer'> & Partial<Pick<E, 'session' | 'customer'>>
  : never;

/** µs of the network one way and of the backend. */
const NETWORK = 150;
const SERVICE = 100;

export interface Actor {
  readonly session: number | null;
  readonly customer: number | null;
}

type Answer = Partial<Pick<QueryDone, 'finishedAt' | 'command' | 'rowCount' | 'rows' | 'transaction'>>;
type Failure = Partial<QueryFailed> & { readonly code: string };

export class LogBuilder {
  readonly events: RunEvent[] = [];
  #at = 0;
  #queries = 0;

  static start(overrides: Partial<RunStarted> = {}): LogBuilder {
    const builder = new LogBuilder();
    builder.events.push({ ...STARTED, ...overrides });
    return builder;
  }

  get at(): number {
    return this.#at;
  }

  /** Microseconds pass. */
  wait(microseconds: number): this {
    this.#at += microseconds;
    return this;
  }

  add(sketch: Sketch): this {
    this.events.push(stamp(this.#at, sketch));
    return this;
  }

  send(actor: Actor, sql: string): number {
    this.add({ type: 'query-sent', ...actor, query: this.#queries, sql, values: [], line: null });
    return this.#queries++;
  }

  start(actor: Actor, sql: string): number {
    const query = this.send(actor, sql);
    this.wait(NETWORK).add({ type: 'query-started', ...actor, query });
    return query;
  }

  done(actor: Actor, query: number, answer: Answer = {}): this {
    const finishedAt = this.#at;
    this.wait(NETWORK);
    return this.add({ type: 'query-done', ...actor, query, finishedAt, ...ANSWER, ...answer });
  }

  failed(actor: Actor, query: number, failure: Failure): this {
    const finishedAt = this.#at;
    this.wait(NETWORK);
    return this.add({ type: 'query-failed', ...actor, query, finishedAt, ...FAILURE, ...failure });
  }

  /** A statement from start to end, alone. */
  query(actor: Actor, sql: string, transaction: TransactionStatus = 'T'): this {
    const query = this.start(actor, sql);
    this.wait(SERVICE);
    const action = ACTIONS.get(sql);
    if (action !== undefined) this.add({ type: 'transaction', ...actor, action });
    return this.done(actor, query, {
      command: sql.split(' ')[0] ?? '',
      transaction: action === undefined ? transaction : action === 'begin' ? 'T' : 'I',
    });
  }

  /** A transaction that buys one unit: 7 ms and a half of the smallest kind. */
  buy(actor: Actor, attempt: number, note: Record<string, number | string> = {}): this {
    this.add({ type: 'attempt', ...actor, attempt });
    for (const sql of ['BEGIN', 'UPDATE product', 'INSERT INTO orders', 'COMMIT']) this.query(actor, sql);
    return this.add({ type: 'outcome', ...actor, attempt, outcome: 'confirmed', note });
  }

  tally(stockBefore: number, stockAfter: number, sold: number): this {
    return this.add({ type: 'tally', stockBefore, stockAfter, sold, extra: {} });
  }

  end(status: 'done' | 'failed' | 'stopped' = 'done', message: string | null = null): RunEvent[] {
    this.add({ type: 'run-ended', status, message });
    return this.events;
  }
}

const ACTIONS = new Map([
  ['BEGIN', 'begin'],
  ['COMMIT', 'commit'],
  ['ROLLBACK', 'rollback'],
] as const) as ReadonlyMap<string, 'begin' | 'commit' | 'rollback'>;

const STARTED: RunStarted = {
  type: 'run-started',
  ...{ at: 0, session: null, customer: null },
  cell: '01-the-sale/naive',
  seed: 1,
  clock: 'virtual',
  sessions: 2,
  parameters: {},
  versions: { pglite: '0.5.17', postgres: '18.3' },
};

const ANSWER = { command: 'UPDATE', rowCount: 1, rows: [], transaction: 'T' } as const;

const FAILURE = {
  ...{ message: 'it failed', detail: null, hint: null, constraint: null, position: null },
  transaction: 'E',
} as const;

/** The one place that turns a sketch into an event: TypeScript loses the union in a spread. */
export function stamp(at: number, sketch: Sketch): RunEvent {
  return { session: null, customer: null, ...sketch, at } as RunEvent;
}
