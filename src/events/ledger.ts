import type { RunEvent } from './events.ts';
import { foldAll, type Fold } from './fold.ts';
import { createJournal, type JournalRow } from './journal.ts';
import { toSale, type Sale } from './sale.ts';

/** A purchase that should not have been. */
export interface OffendingOrder {
  /** `beyond-stock`: when it was committed, all there was had been sold. `twice`: an earlier one has the same key. */
  readonly reason: 'beyond-stock' | 'twice';
  readonly attempt: number;
  readonly customer: number | null;
  readonly units: number;
  /** Its place among the purchases in order of commit, from 1. */
  readonly place: number;
  /** µs */
  readonly beganAt: number;
  readonly committedAt: number;
}

/** Does the stock account for the orders? */
export interface Ledger {
  /** sold = stock before − stock after, or what is amiss. Null until the final count. */
  readonly sale: Sale | null;
  /** Attempts whose customers were told yes, and the units that they were promised. */
  readonly confirmed: number;
  readonly confirmedUnits: number;
  /**
   * In order of commit. Stock is counted over all products together: with several of them a purchase may be
   * beyond the stock of its own and not be listed.
   */
  readonly offending: readonly OffendingOrder[];
}

export function foldLedger(events: Iterable<RunEvent>): Ledger {
  return foldAll(createLedger(), events);
}

export function createLedger(): Fold<Ledger> {
  const journal = createJournal();
  let sale: Sale | null = null;
  return {
    add(event) {
      journal.add(event);
      if (event.type === 'tally') sale = toSale(event);
    },
    get value() {
      return toLedger(journal.value, sale);
    },
  };
}

type Purchase = JournalRow & { readonly committedAt: number };

function toLedger(rows: readonly JournalRow[], sale: Sale | null): Ledger {
  const purchases = rows.filter(isPurchase).sort((a, b) => a.committedAt - b.committedAt);
  const confirmedUnits = purchases.reduce((sum, { units }) => sum + units, 0);
  const offending = findOffending(purchases, sale?.stockBefore ?? Infinity);
  return { sale, confirmed: purchases.length, confirmedUnits, offending };
}

const isPurchase = (row: JournalRow): row is Purchase => row.committedAt !== null;

function findOffending(purchases: readonly Purchase[], stock: number): OffendingOrder[] {
  const keys = new Set<string>();
  let sold = 0;
  return purchases.flatMap((purchase, index) => {
    sold += purchase.units;
    const twice = purchase.key !== null && keys.has(purchase.key);
    if (purchase.key !== null) keys.add(purchase.key);
    if (sold <= stock && !twice) return [];
    return [toOffending(purchase, index + 1, sold > stock ? 'beyond-stock' : 'twice')];
  });
}

function toOffending(purchase: Purchase, place: number, reason: OffendingOrder['reason']): OffendingOrder {
  const { attempt, customer, units, beganAt, committedAt } = purchase;
  return { reason, attempt, customer, units, place, beganAt, committedAt };
}
