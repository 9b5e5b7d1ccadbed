/** For tests: a store behind clients, without a database. */
import type { Client, Row } from './client.ts';

export interface Statement {
  readonly client: number;
  readonly text: string;
}

/**
 * Clients of one store that knows what a sale of one product says to `product` and `orders`.
 * It has no locks and no transactions: the last write wins.
 */
export function fakeClients(count: number): { clients: Client[]; statements: Statement[] } {
  const statements: Statement[] = [];
  let stock = 0;
  let orders = 0;
  const answer = (text: string, values: readonly unknown[]): Row[] => {
    if (text.startsWith('INSERT INTO product')) stock = 100;
    if (text.startsWith('UPDATE product')) stock = Number(values[0]);
    if (text.startsWith('INSERT INTO orders')) orders += 1;
    return text.startsWith('SELECT') ? [{ stock, orders }] : [];
  };
  const clients = Array.from({ length: count }, (_unused, client): Client => ({
    query: async <R extends Row>(text: string, values: readonly unknown[] = []) => {
      statements.push({ client, text });
      await Promise.resolve();
      return { rows: answer(text, values) as R[], rowCount: null };
    },
  }));
  return { clients, statements };
}
