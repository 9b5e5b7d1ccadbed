import type { RunEvent } from './events.ts';

/** When the race itself went on: without set-up before it and the final count after it. */
export interface RaceTimes {
  /** µs of the first attempt; where a cell has none, of the first thing that a customer did. */
  readonly began: number | null;
  /** µs of the last event of a customer's. */
  readonly ended: number | null;
  /** Whether `began` is an attempt's. */
  readonly attempted: boolean;
}

export const NO_RACE: RaceTimes = { began: null, ended: null, attempted: false };

export function extendRace(times: RaceTimes, event: RunEvent): RaceTimes {
  const { at } = event;
  if (event.type === 'attempt' && !times.attempted) return { began: at, ended: at, attempted: true };
  if (event.customer === null) return times;
  return { ...times, began: times.began ?? at, ended: at };
}

/** Whole microseconds; 0 before the race. */
export function raceDuration({ began, ended }: RaceTimes): number {
  return began === null || ended === null ? 0 : ended - began;
}
