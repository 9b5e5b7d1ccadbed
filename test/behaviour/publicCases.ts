/** Reads the cases that were restated from public reports, and refuses what the runner would not understand. */
import { readFileSync } from 'node:fs';

/** What a step, or a statement that it unblocks, must bring. Exactly one outcome, perhaps with `message` or `ordered`. */
export interface Expectation {
  /** Succeeds. */
  readonly ok?: true;
  /** Succeeds with these rows, as a multiset unless `ordered`. */
  readonly rows?: readonly (readonly unknown[])[];
  readonly ordered?: boolean;
  /** Succeeds with this row count. */
  readonly affected?: number;
  /** Fails with this SQLSTATE, and with `message` if there is one. */
  readonly error?: string;
  readonly message?: string;
  /** Waits for a lock until a later step unblocks it. */
  readonly blocks?: true;
  /** Closes a cycle of these sessions: one fails with 40P01, from then on `$victim`; the others succeed. */
  readonly deadlock?: readonly string[];
}

export interface Step {
  /** A session: `A` to `D`, or `$victim` or `$survivor` of the last deadlock. */
  readonly s: string;
  readonly sql: string;
  readonly expect: Expectation;
  /** The waiting statements that end with this step, in this order, and how. */
  readonly unblocks?: readonly { readonly s: string; readonly expect: Expectation }[];
}

export interface Scenario {
  readonly id: string;
  readonly note?: string;
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
  readonly steps: readonly Step[];
  /** What the tables hold at the end, as multisets. */
  readonly final: readonly { readonly sql: string; readonly rows: readonly (readonly unknown[])[] }[];
}

export interface PublicCase {
  readonly id: string;
  readonly topic: string;
  readonly scenarios: readonly Scenario[];
}

const OUTCOMES = ['ok', 'rows', 'affected', 'error', 'blocks', 'deadlock'];
const KNOWN = new Set([...OUTCOMES, 'message', 'ordered']);

function checkExpectation(id: string, expect: Expectation): void {
  const keys = Object.keys(expect);
  const unknown = keys.filter((key) => !KNOWN.has(key));
  const outcomes = keys.filter((key) => OUTCOMES.includes(key));
  if (unknown.length > 0 || outcomes.length !== 1) {
    throw new Error(
      `${id}: expected one of ${OUTCOMES.join(', ')}, found ${JSON.stringify(expect)}; teach the runner or mend the case`,
    );
  }
}

function checkScenario({ id, steps }: Scenario): void {
  for (const { expect, unblocks = [] } of steps) {
    checkExpectation(id, expect);
    for (const unblocked of unblocks) checkExpectation(id, unblocked.expect);
  }
}

/** @throws when a scenario says something that the runner does not know. */
export function readPublicCases(): readonly PublicCase[] {
  const text = readFileSync(new URL('./public-cases.json', import.meta.url), 'utf8');
  const { cases } = JSON.parse(text) as { cases: readonly PublicCase[] };
  for (const { scenarios } of cases) scenarios.forEach(checkScenario);
  return cases;
}
