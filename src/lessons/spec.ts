/** What a lesson says about its cells: how each is run, and what it must show. */

/** What a cell must show on the virtual clock with any seed, and on a native server. Tested on both. */
export interface Shape {
  /** Whether more is sold than there was. */
  readonly oversold: 'always' | 'never';
  /** Units sold, when every run sells the same number. */
  readonly sold?: number;
  /** Least number of deadlocks on the virtual clock (a native server has at least one), or none at all. */
  readonly deadlocks: number | 'none';
  /** Whether sold = stock before - stock after. */
  readonly balanced: boolean;
  /** Least number of retries on the virtual clock (a native server has at least one), or none at all. */
  readonly retries: number | 'none';
  /** SQLSTATEs that a run may show, beyond those that its deadlocks and retries imply. */
  readonly codes: readonly string[];
}

export interface CellSpec {
  readonly title: string;
  /** Sessions; also the pool's default size. 1 to 40. */
  readonly connections: number;
  /** What the cell reads with `parameter()`, and `race()` by itself: customers, attempts, ... */
  readonly parameters: Readonly<Record<string, number>>;
  /** Files in the lesson's folder that make the tables. */
  readonly schema: readonly string[];
  /** A statement with the whole numbers `stock` (what is left) and `sold` (what orders say). */
  readonly tally: string;
  /** Postgres settings for the run, for example `deadlock_timeout`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly shape: Shape;
}

export interface LessonSpec {
  /** `NN-slug`, the name of its folder. */
  readonly slug: string;
  readonly title: string;
  /** By the name of the file in `cells/`, without `.ts`. */
  readonly cells: Readonly<Record<string, CellSpec>>;
}

/** One product, one row for each order. */
export const ONE_PRODUCT = 'SELECT (SELECT stock FROM product) AS stock, (SELECT count(*)::int FROM orders) AS sold';
/** Several products. */
export const ALL_PRODUCTS =
  'SELECT (SELECT sum(stock)::int FROM product) AS stock, (SELECT count(*)::int FROM orders) AS sold';
