import type { LoggedValue, Tallied } from './events.ts';

/** What stock and orders say in the end. */
export interface Sale {
  readonly stockBefore: number;
  readonly stockAfter: number;
  /** Units that orders say were sold. */
  readonly sold: number;
  /** Units sold beyond the stock; 0 when none were. */
  readonly oversold: number;
  /** Units sold that left no trace in the stock; negative when the stock fell by more than was sold. */
  readonly untraced: number;
  /** Whether sold = stock before − stock after. */
  readonly balanced: boolean;
  readonly extra: Readonly<Record<string, LoggedValue>>;
}

export function toSale({ stockBefore, stockAfter, sold, extra }: Tallied): Sale {
  const untraced = sold - (stockBefore - stockAfter);
  const oversold = Math.max(0, sold - stockBefore);
  return { stockBefore, stockAfter, sold, oversold, untraced, balanced: untraced === 0, extra };
}
