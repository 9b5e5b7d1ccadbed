/**
 * The pure core of the deterministic conductor: what can happen next, and when.
 *
 * Events of the reader's code (a statement arrives, an answer comes back, a
 * sleep ends) wait here with a time and a seeded key. Events of the engine (a
 * session's latch is set, its timer is due) are not kept: they are read off the
 * sessions when the next event is chosen, because how many there are depends on
 * history and must not disturb a random stream or a list of choices.
 */

/** Who moves: a customer by its number, or `NOBODY` for code outside the race. */
export type Actor = number;
export const NOBODY: Actor = -1;

/** An event of the reader's code. */
export interface ReaderEvent {
  /** In order of scheduling, from 0. */
  readonly id: number;
  /** Microseconds on the cluster's clock. */
  readonly at: number;
  /** Breaks ties: a draw from a seeded stream. */
  readonly key: number;
  readonly actor: Actor;
}

/** A backend that can go on, now or when its timer is due. */
export interface EngineEvent {
  readonly at: number;
  /** Position of the backend in its cluster, -1 for the observer. */
  readonly backend: number;
}

export interface Schedule {
  readonly nextId: number;
  /** Sorted by time, key and id. */
  readonly events: readonly ReaderEvent[];
}

export const EMPTY: Schedule = { nextId: 0, events: [] };

export function add(schedule: Schedule, at: number, key: number, actor: Actor): Schedule {
  const event: ReaderEvent = { id: schedule.nextId, at, key, actor };
  let place = schedule.events.length;
  while (place > 0 && compare(event, schedule.events[place - 1] as ReaderEvent) < 0) place -= 1;
  return { nextId: schedule.nextId + 1, events: schedule.events.toSpliced(place, 0, event) };
}

export function remove(schedule: Schedule, id: number): Schedule {
  return { ...schedule, events: schedule.events.filter((event) => event.id !== id) };
}

function compare(a: ReaderEvent, b: ReaderEvent): number {
  return a.at - b.at || a.key - b.key || a.id - b.id;
}

/**
 * What comes next when `reader` is to be the reader's next event: that, or an
 * event of the engine's that is due before it. At the same time the reader's
 * comes first; among the engine's the order given decides, longest wait first.
 * (Ties by position let the last sessions starve: with eight of them at one row
 * they waited from the beginning of a sale to its end.)
 */
export function nextOf(
  reader: ReaderEvent | undefined,
  engine: readonly EngineEvent[],
  now: number,
): { readonly reader: ReaderEvent } | { readonly engine: EngineEvent } | undefined {
  const [first] = engine.toSorted((a, b) => a.at - b.at);
  if (reader === undefined) return first && { engine: first };
  if (first === undefined || Math.max(reader.at, now) <= Math.max(first.at, now)) return { reader };
  return { engine: first };
}

/** The actors that can move, each once, the one that time favours first. */
export function actorsOf({ events }: Schedule): Actor[] {
  return [...new Set(events.map((event) => event.actor))];
}

/**
 * Decides which actor moves next. Called when there is more than one; the first
 * is the one that time says, with ties broken by the seed.
 */
export type Policy = (actors: readonly Actor[]) => Actor | Promise<Actor>;

/** What time says. */
export const seededPolicy: Policy = ([first = NOBODY]) => first;

/**
 * Repeats recorded choices, then goes by time.
 *
 * @throws Error, when it chooses, for an actor that cannot move.
 */
export function scriptedPolicy(choices: readonly Actor[]): Policy {
  let next = 0;
  return (actors) => {
    const wanted = choices[next] ?? (actors[0] as Actor);
    assertCanMove(wanted, actors, `Choice ${next} of the script`);
    next += 1;
    return wanted;
  };
}

/** Asks from outside, one step at a time. */
export function askedPolicy(ask: (actors: readonly Actor[]) => Promise<Actor>): Policy {
  return async (actors) => {
    const chosen = await ask(actors);
    assertCanMove(chosen, actors, 'The choice');
    return chosen;
  };
}

function assertCanMove(wanted: Actor, actors: readonly Actor[], what: string): void {
  if (actors.includes(wanted)) return;
  throw new Error(`${what} is ${nameOf(wanted)}, which cannot move; ${actors.map(nameOf).join(', ')} can.`);
}

function nameOf(actor: Actor): string {
  return actor === NOBODY ? 'code outside the race' : `customer ${actor}`;
}
