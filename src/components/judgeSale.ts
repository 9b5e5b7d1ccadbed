/** What a race that sells a stock of goods amounts to. Pure: numbers in, words out. */

export interface Sale {
  readonly stockBefore: number;
  readonly stock: number;
  readonly orders: number;
  readonly errors: number;
  readonly firstError: string | null;
}

export interface Verdict {
  readonly tone: 'bad' | 'ok';
  /** Comes first and carries the colour. */
  readonly figure: string;
  readonly rest: string;
}

/** `goods` in the plural. */
export function judgeSale(sale: Sale, goods: string): Verdict {
  const figure = `${sale.orders} orders for ${sale.stockBefore} ${goods}`;
  const oversold = sale.orders - sale.stockBefore;
  const balanced = describeBalance(sale).tone === 'ok';
  const tone = oversold > 0 || !balanced ? 'bad' : 'ok';
  return { tone, figure, rest: `, stock shows ${sale.stock}: ${describe(oversold, balanced)}${describeErrors(sale)}.` };
}

/** The ledger's last line. Sold = stock before - stock after = count(orders), or else it says what is amiss. */
export function describeBalance(
  sale: Pick<Sale, 'stockBefore' | 'stock' | 'orders'>,
): Pick<Verdict, 'tone'> & { text: string } {
  const untraced = sale.orders - (sale.stockBefore - sale.stock);
  if (untraced === 0) return { tone: 'ok', text: '✓ balances' };
  if (untraced > 0) return { tone: 'bad', text: `✕ ${untraced} of the orders left no trace in the stock` };
  return { tone: 'bad', text: `✕ the stock fell by ${-untraced} more than was ordered` };
}

function describe(oversold: number, balanced: boolean): string {
  if (oversold > 0) return `oversold by ${oversold}`;
  return balanced ? 'nothing oversold' : 'not oversold, but the stock does not account for the orders';
}

function describeErrors({ errors, firstError }: Sale): string {
  if (errors === 0) return ', and not one error';
  return `; ${errors} ${errors === 1 ? 'attempt' : 'attempts'} failed, the first with “${firstError ?? 'no message'}”`;
}
