/** How a lesson's cell is run as a race. */
export interface RaceSpec {
  /** `NN-slug/name` of the file in `lessons/NN-slug/cells/`. */
  readonly cell: string;
  readonly attempts: number;
  readonly buyers: number;
  /** Sessions by default, and the most that the page offers. */
  readonly sessions: number;
  readonly maxSessions: number;
  /** What there is to sell before the race, as the cell's set-up stores it. */
  readonly stock: number;
  /** What is sold, in the plural. */
  readonly goods: string;
  /** A statement with the integer columns `stock` and `orders`. */
  readonly tally: string;
}
