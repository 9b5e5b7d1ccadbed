import type { Client, Sleep } from './client.ts';
import { Pool } from './pool.ts';

/** What a race runs: a module with the tables of its world, and one click on Buy. */
export interface RaceCell {
  setup(db: Client): Promise<void>;
  /** Resolves to whether the customer got an order. */
  buy(db: Client, sleep: Sleep): Promise<boolean>;
}

export interface RacePlan {
  /** Clicks in all. */
  readonly attempts: number;
  /** Customers who click at the same time; each takes the next click as soon as its last one is answered. */
  readonly buyers: number;
  /** A statement with the integer columns `stock` and `orders`. */
  readonly tally: string;
}

/** What the tables say, and how far the race is. */
export interface RaceTally {
  readonly stock: number;
  readonly orders: number;
  /** Attempts answered so far, errors included. */
  readonly attempts: number;
  /** Attempts that ended in an error of the database. */
  readonly errors: number;
}

export interface RaceOutcome extends RaceTally {
  readonly stockBefore: number;
  /** From the first click to the last answer. */
  readonly milliseconds: number;
  /** The first error that an attempt ended in, if any did. */
  readonly firstError: string | null;
}

/** Between two looks at the tables, in ms: at most twenty a second. */
const SAMPLE_EVERY = 50;

const sleep: Sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Lets `buyers` customers share `clients` until all attempts are answered.
 * `onSample` hears what the tables say while it goes on.
 *
 * @throws whatever the cell throws that is not an error of the database.
 */
export async function race(
  clients: readonly Client[],
  cell: RaceCell,
  plan: RacePlan,
  onSample: (tally: RaceTally) => void = () => undefined,
): Promise<RaceOutcome> {
  const pool = new Pool(clients);
  await pool.use((client) => cell.setup(client));
  const stockBefore = (await pool.use((client) => readTables(client, plan.tally))).stock;

  let started = 0;
  let attempts = 0;
  let errors = 0;
  let firstError: string | null = null;
  let sampledAt = performance.now();

  const attempt = async (client: Client): Promise<void> => {
    try {
      await cell.buy(client, sleep);
    } catch (error) {
      if (!isDatabaseError(error)) throw error;
      errors += 1;
      firstError ??= error.message;
      await client.query('ROLLBACK');
    }
    attempts += 1;
  };

  const sample = async (client: Client): Promise<void> => {
    if (performance.now() - sampledAt < SAMPLE_EVERY) return;
    sampledAt = performance.now();
    const tables = await readTables(client, plan.tally);
    onSample({ ...tables, attempts, errors });
  };

  const customer = async (): Promise<void> => {
    while (started < plan.attempts) {
      started += 1;
      await pool.use(async (client) => {
        await attempt(client);
        await sample(client);
      });
    }
  };

  const startedAt = performance.now();
  await Promise.all(Array.from({ length: plan.buyers }, customer));
  const milliseconds = performance.now() - startedAt;
  const tables = await pool.use((client) => readTables(client, plan.tally));
  return { ...tables, attempts, errors, firstError, stockBefore, milliseconds };
}

async function readTables(client: Client, tally: string): Promise<{ stock: number; orders: number }> {
  const [row] = (await client.query<{ stock: number; orders: number }>(tally)).rows;
  if (row === undefined) throw new Error(`The tally returned no row; one with stock and orders was expected: ${tally}`);
  return { stock: row.stock, orders: row.orders };
}

function isDatabaseError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'DatabaseError';
}
