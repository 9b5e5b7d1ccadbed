import type { Outcome, QueryFailed, RunEvent } from './events.ts';
import { foldAll, handle, type Fold, type Handlers } from './fold.ts';
import { readNote, type Note } from './note.ts';

/** What became of one attempt. */
export interface JournalRow {
  readonly attempt: number;
  readonly customer: number | null;
  /** Sessions that it used, in order of first use. */
  readonly sessions: readonly number[];
  /** As noted by the attempt, else the run's parameter of that name. */
  readonly strategy: string | null;
  /** µs */
  readonly beganAt: number;
  /** µs; null while it goes on. */
  readonly endedAt: number | null;
  /**
   * µs: when a purchase became final at the backend: its last commit, or the end of its last statement if it
   * had no transaction block. Null for an attempt that bought nothing.
   */
  readonly committedAt: number | null;
  readonly retries: number;
  readonly outcome: Outcome | null;
  readonly stockBefore: number | null;
  readonly stockAfter: number | null;
  readonly units: number;
  readonly key: string | null;
  /** As noted, else of the last error of an attempt that bought nothing. */
  readonly message: string | null;
  /** SQLSTATEs of its failed statements, in order. */
  readonly errors: readonly string[];
}

/** Whether the customer was told that the goods are theirs. */
export function isSold(outcome: Outcome | null): boolean {
  return outcome === 'confirmed' || outcome === 'oversold';
}

interface Entry {
  readonly attempt: number;
  readonly customer: number | null;
  readonly beganAt: number;
  readonly sessions: Set<number>;
  readonly failures: QueryFailed[];
  retries: number;
  committedAt: number | null;
  finishedAt: number | null;
  end: { readonly at: number; readonly outcome: Outcome; readonly note: Note } | null;
}

interface State {
  strategy: string | null;
  readonly entries: Map<number, Entry>;
  /** What each customer is at: it makes one attempt at a time. */
  readonly current: Map<number | null, Entry>;
}

export function foldJournal(events: Iterable<RunEvent>): readonly JournalRow[] {
  return foldAll(createJournal(), events);
}

/** One row for each attempt, in the order in which they began. */
export function createJournal(): Fold<readonly JournalRow[]> {
  const state: State = { strategy: null, entries: new Map(), current: new Map() };
  return {
    add(event) {
      if (event.session !== null) state.current.get(event.customer)?.sessions.add(event.session);
      handle(HANDLERS, state, event);
    },
    get value() {
      return [...state.entries.values()].map((entry) => toRow(entry, state.strategy));
    },
  };
}

const HANDLERS: Handlers<State> = {
  'run-started': (state, { parameters }) => {
    const strategy = parameters['strategy'];
    state.strategy = strategy === undefined ? null : String(strategy);
  },
  attempt: (state, event) => {
    const entry = begin(event.attempt, event.customer, event.at, event.session);
    state.entries.set(event.attempt, entry);
    state.current.set(event.customer, entry);
  },
  retry: (state, { attempt, customer }) => {
    const entry = attempt === null ? state.current.get(customer) : state.entries.get(attempt);
    if (entry) entry.retries += 1;
  },
  transaction: (state, { action, customer, at }) => {
    const entry = state.current.get(customer);
    if (entry && action === 'commit') entry.committedAt = at;
  },
  'query-done': (state, { customer, finishedAt }) => {
    const entry = state.current.get(customer);
    if (entry) entry.finishedAt = finishedAt;
  },
  'query-failed': (state, event) => void state.current.get(event.customer)?.failures.push(event),
  outcome: (state, { attempt, customer, at, outcome, note }) => {
    const entry = state.entries.get(attempt);
    if (entry) entry.end = { at, outcome, note: readNote(note) };
    if (entry && state.current.get(customer) === entry) state.current.delete(customer);
  },
};

const begin = (attempt: number, customer: number | null, beganAt: number, session: number | null): Entry => ({
  attempt,
  customer,
  beganAt,
  sessions: new Set(session === null ? [] : [session]),
  failures: [],
  retries: 0,
  committedAt: null,
  finishedAt: null,
  end: null,
});

function toRow({ sessions, failures, end, finishedAt, ...entry }: Entry, strategy: string | null): JournalRow {
  const { attempt, customer, beganAt, retries } = entry;
  const { outcome = null, at: endedAt = null } = end ?? {};
  const sold = isSold(outcome);
  const note = end?.note ?? readNote({});
  return {
    ...{ attempt, customer, beganAt, endedAt, retries, outcome, ...note },
    sessions: [...sessions],
    strategy: note.strategy ?? strategy,
    committedAt: sold ? (entry.committedAt ?? finishedAt ?? endedAt) : null,
    message: note.message ?? (sold ? null : (failures.at(-1)?.message ?? null)),
    errors: failures.map(({ code }) => code),
  };
}
