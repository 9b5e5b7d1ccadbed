/**
 * Plausible logs without a database: customers share sessions, lock one of a few
 * rows, sleep, run into deadlocks, retry, give up. For tests that hold for any log.
 */
import type { Outcome, RunEvent } from '../events.ts';
import { stamp, LogBuilder, type Sketch } from './buildLog.ts';

export interface RandomRace {
  readonly seed: number;
  readonly customers: number;
  readonly sessions: number;
  readonly attempts: number;
}

/** A number in [0, 1): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** A customer's life: yields the microseconds until it goes on. */
type Life = Generator<number, void>;

class World {
  readonly events: RunEvent[];
  readonly random: () => number;
  readonly race: RandomRace;
  readonly free: number[];
  /** Session that holds each locked row. */
  readonly locks = new Map<number, number>();
  now = 0;
  attempts = 0;
  queries = 0;
  waiting = 0;

  constructor(race: RandomRace) {
    this.race = race;
    this.events = LogBuilder.start({ seed: race.seed, sessions: race.sessions }).events;
    this.random = seededRandom(race.seed);
    this.free = Array.from({ length: race.sessions }, (_, i) => i);
  }

  emit(sketch: Sketch): void {
    this.events.push(stamp(this.now, sketch));
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }
}

export function randomLog(race: RandomRace): RunEvent[] {
  const world = new World(race);
  const lives = Array.from({ length: race.customers }, (_, customer) => ({ due: 0, life: live(world, customer) }));
  for (;;) {
    const next = lives.reduce((a, b) => (b.due < a.due ? b : a));
    if (next.due === Infinity) break;
    world.now = next.due;
    const { value, done } = next.life.next();
    next.due = done === true ? Infinity : world.now + (value ?? 0);
  }
  const sold = world.events.filter((event) => event.type === 'outcome' && event.outcome === 'confirmed').length;
  world.emit({ type: 'tally', stockBefore: 5, stockAfter: 5 - world.below(sold + 1), sold, extra: {} });
  world.emit({ type: 'run-ended', status: 'done', message: null });
  return world.events;
}

function* live(world: World, customer: number): Life {
  while (world.attempts < world.race.attempts) {
    const attempt = world.attempts++;
    world.emit({ type: 'attempt', customer, attempt });
    const outcome = yield* attemptOnce(world, customer, attempt);
    world.emit({ type: 'outcome', customer, attempt, outcome, note: { stockBefore: world.below(9) } });
    yield world.below(300);
  }
}

function* attemptOnce(world: World, customer: number, attempt: number): Generator<number, Outcome> {
  for (let times = 1; ; times++) {
    const session = yield* connect(world, customer);
    if (session === null) return 'failed';
    const bought = yield* transact(world, customer, session);
    world.emit({ type: 'connection-released', customer, session });
    world.free.push(session);
    if (bought !== null) return bought ? 'confirmed' : 'rejected';
    if (times === 3) return 'gave-up';
    world.emit({ type: 'retry', customer, attempt, reason: '40P01', times });
  }
}

function* connect(world: World, customer: number): Generator<number, number | null> {
  const waits = world.free.length === 0;
  if (waits) world.emit({ type: 'connection-wait', customer, ahead: world.waiting++ });
  for (let tries = 0; world.free.length === 0; tries++) {
    if (tries === 40) {
      world.waiting -= 1;
      world.emit({ type: 'connection-timeout', customer });
      return null;
    }
    yield 100 + world.below(50);
  }
  if (waits) world.waiting -= 1;
  const session = world.free.shift() ?? 0;
  world.emit({ type: 'connection-acquired', customer, session });
  return session;
}

/** Whether it bought; null when it was a deadlock's victim. */
function* transact(world: World, customer: number, session: number): Generator<number, boolean | null> {
  const actor = { session, customer };
  yield* query(world, actor, 'begin');
  for (const row of [world.below(3), world.below(3)]) {
    if (!(yield* query(world, actor, null, row))) {
      yield* query(world, actor, 'rollback');
      return null;
    }
    world.emit({ type: 'sleep', customer, duration: 500 });
    yield world.below(500);
    world.emit({ type: 'sleep-ended', customer });
    world.emit({ type: 'sample', stock: world.below(9), orders: world.below(9) });
  }
  const bought = world.random() < 0.7;
  yield* query(world, actor, bought ? 'commit' : 'rollback');
  return bought;
}

function* query(
  world: World,
  actor: { readonly session: number; readonly customer: number },
  action: 'begin' | 'commit' | 'rollback' | null,
  row: number = -1,
): Generator<number, boolean> {
  const query = world.queries++;
  world.emit({ type: 'query-sent', ...actor, query, sql: action ?? `UPDATE ${row}`, values: [row], line: 1 });
  yield world.below(200);
  world.emit({ type: 'query-started', ...actor, query });
  yield world.below(100);
  const granted = action !== null || (yield* lock(world, actor, query, row));
  if (action !== null) world.emit({ type: 'transaction', ...actor, action });
  else if (!granted) world.emit({ type: 'transaction', ...actor, action: 'fail' });
  if (action === 'commit' || action === 'rollback') unlock(world, actor.session);
  const finishedAt = world.now;
  yield world.below(200);
  const status = action === 'commit' || action === 'rollback' ? 'I' : 'T';
  const common = { ...actor, query, finishedAt };
  if (granted) world.emit({ type: 'query-done', ...common, command: 'X', rowCount: 1, rows: [], transaction: status });
  else world.emit({ type: 'query-failed', ...common, ...DEADLOCK });
  return granted;
}

const DEADLOCK = {
  ...{ code: '40P01', message: 'deadlock detected', hint: null, constraint: null, position: null },
  detail: 'Process 1003 waits for ShareLock on transaction 763; blocked by process 1002.',
  transaction: 'E',
} as const;

function* lock(
  world: World,
  actor: { readonly session: number; readonly customer: number },
  query: number,
  row: number,
) {
  const free = () => [undefined, actor.session].includes(world.locks.get(row));
  if (!free()) {
    const blockedBy = [world.locks.get(row) ?? 0];
    const wait = { lockType: 'transactionid', mode: 'ShareLock', relation: null, blockedBy };
    world.emit({ type: 'lock-wait', ...actor, query, ...wait });
    for (let tries = 0; tries < 12 && !free(); tries++) yield 100 + world.below(100);
    world.emit({ type: 'lock-wait-ended', ...actor, query });
  }
  const granted = free();
  if (granted) world.locks.set(row, actor.session);
  return granted;
}

function unlock(world: World, session: number): void {
  for (const [row, holder] of world.locks) if (holder === session) world.locks.delete(row);
}
