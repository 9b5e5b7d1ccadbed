import type { RunEvent } from './events.ts';
import { foldAll, type Fold } from './fold.ts';
import { pickEvenly } from './pickEvenly.ts';
import { extendRace, NO_RACE } from './raceTimes.ts';

/** How many there had been by then, this one included. */
export interface Point {
  /** µs */
  readonly at: number;
  readonly count: number;
}

/** Each from 0 when the race began to its total at the race's end, so that a chart's line spans the race. */
export interface Series {
  readonly deadlocks: readonly Point[];
  readonly retries: readonly Point[];
}

/** At most `points` points of each (at least 2), with first and last; all of them unless said. */
export function foldSeries(events: Iterable<RunEvent>, points: number = Infinity): Series {
  return thinSeries(foldAll(createSeries(), events), points);
}

export function thinSeries({ deadlocks, retries }: Series, points: number): Series {
  return { deadlocks: pickEvenly(deadlocks, Math.max(2, points)), retries: pickEvenly(retries, Math.max(2, points)) };
}

export function createSeries(): Fold<Series> {
  const deadlocks: number[] = [];
  const retries: number[] = [];
  let race = NO_RACE;
  return {
    add(event) {
      race = extendRace(race, event);
      if (event.type === 'retry') retries.push(event.at);
      // The client's time, not the backend's: those are in order, and the race's end is a client's too.
      if (event.type === 'query-failed' && event.code === '40P01') deadlocks.push(event.at);
    },
    get value() {
      const { began, ended } = race;
      return { deadlocks: accumulate(deadlocks, began, ended), retries: accumulate(retries, began, ended) };
    },
  };
}

/** Of several at one moment, only the last count. */
function accumulate(times: readonly number[], began: number | null, ended: number | null): Point[] {
  if (began === null || ended === null) return [];
  const points = [{ at: Math.min(began, times[0] ?? began), count: 0 }];
  times.forEach((at, index) => {
    if (index > 0 && points.at(-1)?.at === at) points.pop();
    points.push({ at, count: index + 1 });
  });
  if ((points.at(-1)?.at ?? ended) < ended) points.push({ at: ended, count: times.length });
  return points;
}
