import { Client, loanOf } from './client.ts';
import { currentLab, type Lab } from './context.ts';
import { LabError } from './labError.ts';
import { customerOf, type Pool } from './pool.ts';
import { retryAs, type RetryOptions } from './retry.ts';
import type { Customer } from './tracker.ts';

export interface TransactionOptions extends RetryOptions {
  /** The server's default, READ COMMITTED, when left out. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  readonly readOnly?: boolean;
  /** Counts for a serializable read-only transaction: it waits for a snapshot that cannot fail. */
  readonly deferrable?: boolean;
}

/**
 * Runs `body` between BEGIN and COMMIT, and rolls back when it throws. From a
 * pool it takes a client for each try and always gives it back.
 *
 * With `retryOn` the whole transaction is tried again after those SQLSTATEs:
 * `body` has to keep nothing from a failed try.
 *
 * @throws what `body` throws, or COMMIT; the last error when the retries are used up;
 *   LabError ROLLED_BACK when `body` hid a statement's error, so that COMMIT rolled back.
 */
export function transaction<T>(
  on: Pool | Client,
  body: (client: Client) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const lab = currentLab();
  const customer = whose(lab, on);
  const once = (client: Client): Promise<T> => attempt(lab, customer, client, body, beginOf(options));
  const work = (): Promise<T> => (on instanceof Client ? once(on) : withClient(on, once));
  return lab.tracker.bind(customer, retryAs(lab, customer, work, options));
}

function whose(lab: Lab, on: Pool | Client): Customer {
  const bound = on instanceof Client ? loanOf(on).customer : customerOf(on);
  return bound ?? lab.tracker.current();
}

async function withClient<T>(pool: Pool, once: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await once(client);
  } finally {
    const { connection } = loanOf(client);
    if (connection) client.release(connection.ended || connection.status !== 'I');
  }
}

async function attempt<T>(
  lab: Lab,
  customer: Customer,
  client: Client,
  body: (client: Client) => Promise<T>,
  begin: string,
): Promise<T> {
  await client.query(begin);
  try {
    const result = await lab.tracker.run(customer, () => body(client));
    const { command } = await client.query('COMMIT');
    if (command === 'ROLLBACK') throw rolledBack();
    return result;
  } catch (error) {
    await rollBack(client);
    throw error;
  }
}

/** An error here would hide the one that matters; the client is then closed, not lent again. */
async function rollBack(client: Client): Promise<void> {
  const { connection } = loanOf(client);
  if (!connection || connection.ended || connection.status === 'I') return;
  await client.query('ROLLBACK').catch(() => undefined);
}

function beginOf({ isolation, readOnly, deferrable }: TransactionOptions): string {
  const parts = ['BEGIN'];
  if (isolation !== undefined) parts.push(`ISOLATION LEVEL ${isolation.toUpperCase()}`);
  if (readOnly !== undefined) parts.push(readOnly ? 'READ ONLY' : 'READ WRITE');
  if (deferrable !== undefined) parts.push(deferrable ? 'DEFERRABLE' : 'NOT DEFERRABLE');
  return parts.join(' ');
}

function rolledBack(): LabError {
  const text =
    'transaction: COMMIT was answered with ROLLBACK, for a statement had failed and its error was caught. ' +
    'Let the error out of the body, or put the statement after a SAVEPOINT.';
  return new LabError('ROLLED_BACK', text);
}
