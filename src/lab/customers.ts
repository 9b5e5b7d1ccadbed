import type { Outcome } from '../events/events.ts';
import type { Lab } from './context.ts';
import { LabError, RaceError } from './labError.ts';
import { Pool, type PoolOptions } from './pool.ts';
import type { Settled } from './turn.ts';

/** What a race counts while it goes on. */
export interface Counts {
  /** How many attempts ended in each way. */
  readonly outcomes: Record<Outcome, number>;
  /** Errors that escaped the body, by SQLSTATE (or `connection-timeout`, `connection-ended`, `worker-died`). */
  readonly errors: Record<string, number>;
}

export function noCounts(): Counts {
  const outcomes = { confirmed: 0, oversold: 0, rejected: 0, duplicate: 0, 'gave-up': 0, failed: 0 };
  return { outcomes, errors: {} };
}

export function count(counts: Counts, { outcome, failure }: Settled): void {
  counts.outcomes[outcome] += 1;
  if (failure !== null) counts.errors[failure] = (counts.errors[failure] ?? 0) + 1;
}

/**
 * Lets customers 0 to `number - 1` live side by side, started in order.
 *
 * @throws the first error of one of them; RaceError CLIENT_NOT_RELEASED when one ended with a client in hand.
 */
export async function runCustomers(lab: Lab, number: number, live: (customer: number) => Promise<void>): Promise<void> {
  const customers = Array.from({ length: number }, (_unused, customer) => customer);
  for (const customer of customers) lab.tracker.join(customer);
  try {
    await Promise.all(customers.map((customer) => runOne(lab, customer, live)));
  } finally {
    for (const customer of customers) lab.tracker.leave(customer);
  }
  checkReleased(lab);
}

async function runOne(lab: Lab, customer: number, live: (customer: number) => Promise<void>): Promise<void> {
  await lab.tracker.run(customer, () => live(customer));
  lab.tracker.leave(customer);
}

function checkReleased(lab: Lab): void {
  const held = [...lab.sessions.leases].flatMap(({ customer }) => (customer === null ? [] : [customer]));
  if (held.length === 0) return;
  const who = [...new Set(held)].sort((a, b) => a - b);
  const name = who.length === 1 ? `customer ${who[0]}` : `customers ${who.join(', ')}`;
  const its = who.length === 1 ? 'its client' : 'their clients';
  const text = `${name} ended without releasing ${its}. Call release() in a finally block.`;
  throw new RaceError('CLIENT_NOT_RELEASED', text);
}

/** A ready pool as it is; else one for this race alone, ended with it. `connections` of the run limits it. */
export async function withPool<T>(
  lab: Lab,
  given: Pool | PoolOptions | undefined,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  if (given instanceof Pool) return work(given);
  const { connections } = lab.host.parameters;
  const max = typeof connections === 'number' ? Math.min(connections, lab.host.sessions) : lab.host.sessions;
  const pool = new Pool({ max, ...given });
  const result = await work(pool);
  await pool.end();
  return result;
}

/** `given`, else the first of the run's parameters of these names. @throws LabError BAD_ARGUMENT unless whole and 1 or more. */
export function sizeOf(lab: Lab, where: string, given: number | undefined, ...names: readonly string[]): number {
  const set = names.map((name) => lab.host.parameters[name]).find((value) => value !== undefined);
  const value = given ?? set;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  const found = value === undefined ? 'neither the option nor the parameter is set' : `found ${value}`;
  throw new LabError(
    'BAD_ARGUMENT',
    `${where}: expected ${names.join(' or ')} to be a whole number, 1 or more; ${found}.`,
  );
}
