import type { Recorded } from './describeRun.ts';

/** What the page knows of a race before it is run; `Race.astro` writes it, `RaceElement.ts` reads it. */
export interface RaceData {
  /** `NN-slug/name` of the cell. */
  readonly cell: string;
  /** What is sold, in the plural. */
  readonly goods: string;
  readonly attempts: number;
  readonly stockBefore: number;
  readonly recorded: Recorded;
}
