/** One lane of the timeline: what a session, or a customer, is in at each moment. */
import type { QueryDone, QueryFailed, RunEvent, TransactionChanged, TransactionStatus } from './events.ts';
import { handle, type EventOf, type Handlers } from './fold.ts';

/** `network`: a statement or its answer is on its way. No span: idle. */
export type SpanKind = 'running' | 'lock-wait' | 'network' | 'connection-wait' | 'sleeping' | 'idle-in-transaction';

export interface AwaitedLock {
  readonly lockType: string;
  readonly mode: string;
  readonly relation: string | null;
  /** Sessions, by index. */
  readonly blockedBy: readonly number[];
}

interface Activity {
  readonly kind: SpanKind;
  /** The statement that is sent, run or held up. */
  readonly query: number | null;
  /** Its session, or else the one with a transaction open. */
  readonly session: number | null;
  readonly customer: number | null;
  /** Of that session: a customer may sleep, or wait for a connection, with a transaction open. */
  readonly transaction: TransactionStatus;
  /** What a `lock-wait` waits for, else null. */
  readonly lock: AwaitedLock | null;
}

export interface Span extends Activity {
  /** µs, `from` < `to`. */
  readonly from: number;
  readonly to: number;
}

export interface Mark {
  /** `deadlock`: this session was the victim. `error`: any other failed statement. */
  readonly kind: 'commit' | 'rollback' | 'deadlock' | 'error' | 'retry' | 'connection-timeout';
  /** µs: of the backend where one is concerned, not of the client that learns of it. */
  readonly at: number;
  readonly query: number | null;
  /** SQLSTATE, or a retry's reason. */
  readonly code: string | null;
}

interface OpenQuery {
  readonly phase: 'running' | 'lock-wait' | 'network';
  readonly query: number;
  readonly session: number | null;
  readonly lock: AwaitedLock | null;
}

/** Of several statements at once, a customer's lane shows what holds it up most. */
const PHASES = ['lock-wait', 'running', 'network'] as const;

export class LaneFold {
  readonly #spans: Span[] = [];
  readonly #marks: Mark[] = [];
  readonly #queries = new Map<number, OpenQuery>();
  /** Sessions in a transaction, oldest first. */
  readonly #transactions = new Map<number | null, TransactionStatus>();
  #sleeps = 0;
  #connectionWaits = 0;
  #customer: number | null = null;
  #open: (Activity & { readonly from: number }) | null = null;
  /** Where the last span ended or the open one began: nothing begins before it. */
  #edge = 0;

  add(event: RunEvent): void {
    this.#customer = event.customer;
    handle(LaneFold.#handlers, this, event);
    this.#turn(event.at);
  }

  /** Spans in order, the open one up to `end`. */
  snapshot(end: number): { readonly spans: readonly Span[]; readonly marks: readonly Mark[] } {
    const open = this.#open && end > this.#open.from ? [{ ...this.#open, to: end }] : [];
    return { spans: [...this.#spans, ...open], marks: [...this.#marks] };
  }

  static readonly #handlers: Handlers<LaneFold> = {
    'query-sent': (lane, { query, session }) =>
      lane.#queries.set(query, { phase: 'network', query, session, lock: null }),
    'query-started': (lane, { query }) => lane.#setPhase(query, 'running'),
    'lock-wait': (lane, event) => lane.#setPhase(event.query, 'lock-wait', toLock(event)),
    'lock-wait-ended': (lane, { query }) => lane.#setPhase(query, 'running'),
    'query-done': (lane, event) => lane.#finish(event),
    'query-failed': (lane, event) => lane.#fail(event),
    transaction: (lane, event) => lane.#changeTransaction(event),
    sleep: (lane) => (lane.#sleeps += 1),
    'sleep-ended': (lane) => (lane.#sleeps = Math.max(0, lane.#sleeps - 1)),
    'connection-wait': (lane) => (lane.#connectionWaits += 1),
    'connection-acquired': (lane) => lane.#endConnectionWait(),
    'connection-timeout': (lane, { at }) => {
      lane.#endConnectionWait();
      lane.#mark('connection-timeout', at, null, null);
    },
    // Only for the customer: a transaction left open stays open in its session.
    'connection-released': (lane, { session }) => lane.#transactions.delete(session),
    retry: (lane, { at, reason }) => lane.#mark('retry', at, null, reason),
  };

  #setPhase(query: number, phase: OpenQuery['phase'], lock: AwaitedLock | null = null): void {
    const open = this.#queries.get(query);
    if (open !== undefined) this.#queries.set(query, { ...open, phase, lock });
  }

  /** The backend was done at `finishedAt`; since then the answer was on its way. */
  #finish({ query, session, finishedAt, at, transaction }: QueryDone | QueryFailed): void {
    this.#setPhase(query, 'network');
    this.#setTransaction(session, transaction);
    this.#turn(Math.min(finishedAt, at));
    this.#queries.delete(query);
  }

  #fail(event: QueryFailed): void {
    const kind = event.code === '40P01' ? 'deadlock' : 'error';
    this.#mark(kind, Math.min(event.finishedAt, event.at), event.query, event.code);
    this.#finish(event);
  }

  #changeTransaction({ action, session, at }: TransactionChanged): void {
    const status = ({ begin: 'T', fail: 'E', commit: 'I', rollback: 'I' } as const)[action];
    this.#setTransaction(session, status);
    if (action !== 'commit' && action !== 'rollback') return;
    const query = [...this.#queries.values()].find((open) => open.session === session);
    this.#mark(action, at, query?.query ?? null, null);
  }

  #setTransaction(session: number | null, status: TransactionStatus): void {
    if (status === 'I') this.#transactions.delete(session);
    else this.#transactions.set(session, status);
  }

  #endConnectionWait(): void {
    this.#connectionWaits = Math.max(0, this.#connectionWaits - 1);
  }

  #mark(kind: Mark['kind'], at: number, query: number | null, code: string | null): void {
    this.#marks.push({ kind, at, query, code });
  }

  /** From `at` on the lane shows what its state now says. */
  #turn(at: number): void {
    const next = this.#activity();
    if (isSame(this.#open, next)) return;
    const edge = Math.max(at, this.#edge);
    if (this.#open !== null && edge > this.#open.from) this.#spans.push({ ...this.#open, to: edge });
    this.#open = next && { ...next, from: edge };
    this.#edge = edge;
  }

  #activity(): Activity | null {
    const query = this.#shownQuery();
    if (query !== undefined) return this.#describe(query.phase, query.session, query);
    const [session = null] = this.#transactions.keys();
    if (this.#connectionWaits > 0) return this.#describe('connection-wait', session);
    if (this.#sleeps > 0) return this.#describe('sleeping', session);
    return this.#transactions.size > 0 ? this.#describe('idle-in-transaction', session) : null;
  }

  #shownQuery(): OpenQuery | undefined {
    if (this.#queries.size === 0) return undefined;
    const queries = [...this.#queries.values()];
    return PHASES.map((phase) => queries.find((query) => query.phase === phase)).find((found) => found !== undefined);
  }

  #describe(kind: SpanKind, session: number | null, open?: OpenQuery): Activity {
    const transaction = this.#transactions.get(session) ?? 'I';
    return {
      kind,
      session,
      customer: this.#customer,
      transaction,
      query: open?.query ?? null,
      lock: open?.lock ?? null,
    };
  }
}

const toLock = ({ lockType, mode, relation, blockedBy }: EventOf<'lock-wait'>): AwaitedLock => ({
  lockType,
  mode,
  relation,
  blockedBy,
});

const COMPARED = ['kind', 'query', 'session', 'customer', 'transaction', 'lock'] as const;

function isSame(a: Activity | null, b: Activity | null): boolean {
  if (a === null || b === null) return a === b;
  return COMPARED.every((field) => a[field] === b[field]);
}
