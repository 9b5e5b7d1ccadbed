import type { Outcome, RunEnded, RunEvent } from './events.ts';
import { foldAll, handle, type Fold, type Handlers } from './fold.ts';
import { extendRace, NO_RACE, raceDuration, type RaceTimes } from './raceTimes.ts';
import { toSale, type Sale } from './sale.ts';

/** What a run amounts to, in numbers. Everything counts what is in the log so far. */
export interface Tally {
  readonly status: 'running' | RunEnded['status'];
  /** Why it failed or was stopped. */
  readonly message: string | null;
  /** Attempts begun. */
  readonly attempts: number;
  /** Attempts answered, by how. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Null until the final count. */
  readonly sale: Sale | null;
  /** Statements that failed, in all. */
  readonly errors: number;
  /** Victims: 40P01. */
  readonly deadlocks: number;
  /** 40001. */
  readonly serializationFailures: number;
  /** 55P03: a lock not to be had, within `lock_timeout` or at all (NOWAIT). */
  readonly lockTimeouts: number;
  /** 23505. */
  readonly uniqueViolations: number;
  /** Statements that failed otherwise, by SQLSTATE. */
  readonly otherErrors: Readonly<Record<string, number>>;
  readonly retries: number;
  /** Tries whose work came to nothing: those that were tried again, and the last ones of attempts that gave up or failed. */
  readonly wastedTries: number;
  readonly lockWaits: number;
  readonly connectionTimeouts: number;
  /** Deliveries of a message after its first. */
  readonly redeliveries: number;
  /** µs on the run's clock, from the first attempt to the last event of a customer's. */
  readonly raceMicroseconds: number;
}

const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
const LOCK_NOT_AVAILABLE = '55P03';
const UNIQUE_VIOLATION = '23505';
const NAMED = new Set([DEADLOCK, SERIALIZATION_FAILURE, LOCK_NOT_AVAILABLE, UNIQUE_VIOLATION]);

interface Counts {
  end: Pick<Tally, 'status' | 'message'>;
  attempts: number;
  readonly outcomes: Record<Outcome, number>;
  sale: Sale | null;
  readonly errors: Map<string, number>;
  retries: number;
  lockWaits: number;
  connectionTimeouts: number;
  redeliveries: number;
  race: RaceTimes;
}

const HANDLERS: Handlers<Counts> = {
  attempt: (counts) => (counts.attempts += 1),
  outcome: (counts, { outcome }) => (counts.outcomes[outcome] += 1),
  'query-failed': ({ errors }, { code }) => errors.set(code, (errors.get(code) ?? 0) + 1),
  retry: (counts) => (counts.retries += 1),
  'lock-wait': (counts) => (counts.lockWaits += 1),
  'connection-timeout': (counts) => (counts.connectionTimeouts += 1),
  'message-delivered': (counts, { delivery }) => (counts.redeliveries += delivery > 1 ? 1 : 0),
  tally: (counts, event) => (counts.sale = toSale(event)),
  'run-ended': (counts, { status, message }) => (counts.end = { status, message }),
};

export function foldTally(events: Iterable<RunEvent>): Tally {
  return foldAll(createTally(), events);
}

export function createTally(): Fold<Tally> {
  const counts = noCounts();
  return {
    add(event) {
      counts.race = extendRace(counts.race, event);
      handle(HANDLERS, counts, event);
    },
    get value() {
      return toTally(counts);
    },
  };
}

const noCounts = (): Counts => ({
  end: { status: 'running', message: null },
  attempts: 0,
  outcomes: { confirmed: 0, oversold: 0, rejected: 0, duplicate: 0, 'gave-up': 0, failed: 0 },
  sale: null,
  errors: new Map(),
  retries: 0,
  lockWaits: 0,
  connectionTimeouts: 0,
  redeliveries: 0,
  race: NO_RACE,
});

function toTally({ end, outcomes, errors, race, ...counts }: Counts): Tally {
  const others = [...errors].filter(([code]) => !NAMED.has(code)).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...counts,
    ...end,
    outcomes: { ...outcomes },
    errors: [...errors.values()].reduce((sum, count) => sum + count, 0),
    deadlocks: errors.get(DEADLOCK) ?? 0,
    serializationFailures: errors.get(SERIALIZATION_FAILURE) ?? 0,
    lockTimeouts: errors.get(LOCK_NOT_AVAILABLE) ?? 0,
    uniqueViolations: errors.get(UNIQUE_VIOLATION) ?? 0,
    otherErrors: Object.fromEntries(others),
    wastedTries: counts.retries + outcomes['gave-up'] + outcomes.failed,
    raceMicroseconds: raceDuration(race),
  };
}
