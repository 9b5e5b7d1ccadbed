import type { RunEvent } from './events.ts';
import { foldAll, type Fold } from './fold.ts';

/** Committed stock and orders at one moment. */
export interface Sample {
  /** µs */
  readonly at: number;
  readonly stock: number;
  readonly orders: number;
}

export function foldSamples(events: Iterable<RunEvent>): readonly Sample[] {
  return foldAll(createSamples(), events);
}

/** What the observer saw, closed by the final count; of several at one moment, the last. */
export function createSamples(): Fold<readonly Sample[]> {
  const samples: Sample[] = [];
  return {
    add(event) {
      const sample = toSample(event);
      if (sample === null) return;
      if (samples.at(-1)?.at === sample.at) samples.pop();
      samples.push(sample);
    },
    get value() {
      return [...samples];
    },
  };
}

function toSample(event: RunEvent): Sample | null {
  if (event.type === 'sample') return { at: event.at, stock: event.stock, orders: event.orders };
  if (event.type === 'tally') return { at: event.at, stock: event.stockAfter, orders: event.sold };
  return null;
}
