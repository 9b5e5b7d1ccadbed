import { currentLab, type Lab } from './context.ts';
import { count, noCounts, runCustomers, sizeOf, withPool, type Counts } from './customers.ts';
import type { Pool, PoolOptions } from './pool.ts';
import { takeTurn, type Turn, type Verdict } from './turn.ts';

export interface RaceOptions {
  /** Customers who act at the same time; the run's parameter `customers` or `buyers` when left out. */
  readonly customers?: number;
  /** Attempts in all: who has ended one takes the next. The run's parameter `attempts` when left out. */
  readonly attempts?: number;
  /** Attempts of each customer, in place of `attempts`. */
  readonly each?: number;
  /** A pool, or what to make one of; `max` is the run's parameter `connections` when left out. */
  readonly pool?: Pool | PoolOptions;
}

export interface RaceResult extends Counts {
  readonly attempts: number;
  readonly retries: number;
  /** From the first attempt's beginning to the last one's end, on the run's clock. */
  readonly milliseconds: number;
}

export type RaceBody = (turn: Turn) => Promise<Verdict> | Verdict;

/**
 * Lets customers make attempts side by side. The body is one attempt; what it
 * returns is its outcome (see `Verdict`).
 *
 * An error of the database or of the connection that escapes the body makes the
 * attempt `failed`, and the race goes on.
 *
 * @throws any other error of the body, at once; RaceError when the race cannot end, or a client was not
 *   released; LabError for options out of range.
 */
export function race(options: RaceOptions, body: RaceBody): Promise<RaceResult>;
export function race(body: RaceBody): Promise<RaceResult>;
export function race(options: RaceOptions | RaceBody, body?: RaceBody): Promise<RaceResult> {
  const lab = currentLab();
  if (typeof options === 'function') return lab.watch.guard('race', () => runRace(lab, {}, options));
  if (body === undefined) return Promise.reject(new TypeError('race: expected a function as the last argument.'));
  return lab.watch.guard('race', () => runRace(lab, options, body));
}

async function runRace(lab: Lab, options: RaceOptions, body: RaceBody): Promise<RaceResult> {
  const customers = sizeOf(lab, 'race', options.customers, 'customers', 'buyers');
  const each = options.each === undefined ? Infinity : sizeOf(lab, 'race', options.each, 'each');
  const attempts = each < Infinity ? customers * each : sizeOf(lab, 'race', options.attempts, 'attempts');
  const counts = noCounts();
  const [retriesBefore, startedAt] = [lab.attempts.retries, lab.host.now()];
  let milliseconds = 0;
  let taken = 0;
  await withPool(lab, options.pool, async (pool) => {
    await runCustomers(lab, customers, async (customer) => {
      for (let own = 0; own < each && taken < attempts; own++) {
        taken += 1;
        count(counts, await takeTurn(lab, customer, pool, body));
      }
    });
    milliseconds = (lab.host.now() - startedAt) / 1000;
  });
  return { ...counts, attempts, retries: lab.attempts.retries - retriesBefore, milliseconds };
}
