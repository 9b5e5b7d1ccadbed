export interface OutlineEntry {
  readonly slug: string;
  readonly number: number;
  readonly title: string;
  /** Which of the course's two sources it follows; the navigation draws a rule between them. */
  readonly part: 1 | 2;
}

const TITLES: readonly (readonly [slug: string, title: string])[] = [
  ['01-the-sale', 'The sale'],
  ['02-one-statement', 'One statement'],
  ['03-the-cart', 'The cart'],
  ['04-lock-order', 'Lock order'],
  ['05-the-gateway', 'The gateway'],
  ['06-the-hot-row', 'The hot row'],
  ['07-isolation', 'Isolation'],
  ['08-twice', 'Twice'],
  ['09-decide', 'Decide'],
  ['10-the-journal', 'The journal'],
  ['11-pool-of-one', 'Pool of one'],
  ['12-reservations', 'Reservations'],
  ['13-sqlite', 'SQLite'],
  ['14-the-line', 'The line'],
];

const LAST_OF_PART_ONE = 9;

/** All lessons of the course in order, written or not. */
export const outline: readonly OutlineEntry[] = TITLES.map(([slug, title], index) => ({
  slug,
  title,
  number: index + 1,
  part: index < LAST_OF_PART_ONE ? 1 : 2,
}));
