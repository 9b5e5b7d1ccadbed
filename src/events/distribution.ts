import type { Summary } from './summary.ts';

export interface Spread {
  readonly min: number;
  /** The middle value; between two, their mean. */
  readonly median: number;
  readonly max: number;
}

/** What the same code did under different seeds. */
export interface Distribution {
  readonly runs: number;
  /** Runs that sold more than there was, and runs whose stock does not account for the orders. */
  readonly oversoldRuns: number;
  readonly unbalancedRuns: number;
  /** Null when no run has a final count. */
  readonly oversold: Spread | null;
  readonly deadlocks: Spread | null;
  readonly retries: Spread | null;
  /** The run that oversold most; among equals the one with more deadlocks, then retries, then the smaller seed. */
  readonly worstSeed: number | null;
}

type Counted = Pick<Summary, 'seed' | 'oversold' | 'balanced' | 'deadlocks' | 'retries'>;

export function distribute(summaries: readonly Counted[]): Distribution {
  return {
    runs: summaries.length,
    oversoldRuns: summaries.filter(({ oversold }) => (oversold ?? 0) > 0).length,
    unbalancedRuns: summaries.filter(({ balanced }) => balanced === false).length,
    oversold: spread(summaries.map(({ oversold }) => oversold).filter((count) => count !== null)),
    deadlocks: spread(summaries.map(({ deadlocks }) => deadlocks)),
    retries: spread(summaries.map(({ retries }) => retries)),
    worstSeed: summaries.toSorted(byHarm)[0]?.seed ?? null,
  };
}

function byHarm(a: Counted, b: Counted): number {
  const oversold = (b.oversold ?? 0) - (a.oversold ?? 0);
  return oversold || b.deadlocks - a.deadlocks || b.retries - a.retries || a.seed - b.seed;
}

function spread(counts: readonly number[]): Spread | null {
  const sorted = counts.toSorted((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) return null;
  const [low = min, high = max] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return { min, median: (low + high) / 2, max };
}
