/** What a sale amounts to, in the words of the chart and the ledger. Pure: numbers in, words out. */

export interface SaleNow {
  readonly stockBefore: number;
  readonly stock: number;
  readonly orders: number;
}

export interface Balance {
  readonly tone: 'bad' | 'ok';
  readonly text: string;
}

/** The ledger's last line. Sold = stock before - stock after = count(orders), or else it says what is amiss. */
export function describeBalance({ stockBefore, stock, orders }: SaleNow): Balance {
  const untraced = orders - (stockBefore - stock);
  if (untraced === 0) return { tone: 'ok', text: '✓ balances' };
  if (untraced > 0) return { tone: 'bad', text: `✕ ${untraced} of the orders left no trace in the stock` };
  return { tone: 'bad', text: `✕ the stock fell by ${-untraced} more than was ordered` };
}

/** What the bar chart shows, for who cannot see it. `goods` in the plural. */
export function describeBars({ stockBefore, stock, orders }: SaleNow, goods: string): string {
  const oversold = Math.max(0, orders - stockBefore);
  return `Bar chart: ${orders} orders, of which ${oversold} oversold; the stock column shows ${stock}; there were ${stockBefore} ${goods}.`;
}

export function signed(change: number): string {
  if (change === 0) return '0';
  return change > 0 ? `+${change}` : `−${-change}`;
}
