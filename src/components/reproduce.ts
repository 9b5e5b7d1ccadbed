import type { Recorded } from './describeRun.ts';

/** A cell and what its recorded run came to; `Reproduce.astro` writes it, `ReproduceElement.ts` reads it. */
export interface ReproduceData extends Recorded {
  /** `NN-slug/name` of the cell. */
  readonly cell: string;
}
