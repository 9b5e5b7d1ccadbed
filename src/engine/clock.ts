/** What time it is for every session of a cluster: one replaceable part (see `Conductor`). */
export interface Clock {
  /** Whole microseconds since the cluster booted. Never goes back. */
  readonly now: () => number;
  /** Milliseconds since 1970 at `now() === 0`. */
  readonly epochMs: number;
}

/** The machine's clock, in whole microseconds. */
export function realClock(): Clock {
  const start = performance.now();
  return {
    now: () => Math.round((performance.now() - start) * 1000),
    epochMs: performance.timeOrigin + start,
  };
}

/**
 * What `emscripten_date_now` answers: milliseconds since 1970. Half a nanosecond
 * more than the truth, so that C's truncation to microseconds is exact.
 */
export function dateNow(clock: Clock): number {
  return clock.epochMs + clock.now() / 1000 + 0.0005;
}
