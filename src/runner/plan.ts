import type { RunParameters } from '../events/events.ts';

/** All that one run of a cell is made of: the same plan gives the same log. */
export interface RunPlan {
  /** `NN-slug/name` of the cell. */
  readonly cell: string;
  /** Whole number, 0 or more. */
  readonly seed: number;
  /** 1 to 40. */
  readonly sessions: number;
  readonly parameters: RunParameters;
  /** The statements that make the tables. */
  readonly schema: string;
  /** A statement with the whole numbers `stock` and `sold`. */
  readonly tally: string;
  /** Of Postgres, for example `deadlock_timeout`. */
  readonly settings: Readonly<Record<string, string>>;
}
