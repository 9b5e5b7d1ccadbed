import type { QueryResult } from '../engine/types.ts';
import type { TransactionChanged, TransactionStatus } from '../events/events.ts';

const TO_SAVEPOINT = /^\s*rollback\s+((work|transaction)\s+)?to\b/i;
const CHAIN = /\band\s+chain\s*;?\s*$/i;
const OPENS = /(^|;)\s*(begin|start\s+transaction)\b/i;

/**
 * The status after a statement was answered, told from command tags: ReadyForQuery's
 * own is not part of node-postgres' result. `ROLLBACK TO` has the tag of `ROLLBACK`.
 */
export function statusAfter(
  before: TransactionStatus,
  text: string,
  answer: QueryResult | readonly QueryResult[],
): TransactionStatus {
  let status = before;
  for (const { command } of Array.isArray(answer) ? (answer as QueryResult[]) : [answer as QueryResult]) {
    if (command === 'BEGIN' || command === 'START') status = 'T';
    if (command === 'COMMIT' || command === 'ROLLBACK') status = endStatus(before, text);
  }
  return status;
}

function endStatus(before: TransactionStatus, text: string): TransactionStatus {
  if (CHAIN.test(text)) return 'T';
  return TO_SAVEPOINT.test(text) && before !== 'I' ? 'T' : 'I';
}

/** The status after a statement failed. */
export function statusAfterError(before: TransactionStatus, text: string): TransactionStatus {
  return before === 'I' && !OPENS.test(text) ? 'I' : 'E';
}

/** What to log for a change of status; null for none. `COMMIT` of a failed transaction answers `ROLLBACK`. */
export function transactionAction(
  before: TransactionStatus,
  after: TransactionStatus,
  command: string | null,
): TransactionChanged['action'] | null {
  if (after === before) return null;
  if (after === 'E') return 'fail';
  if (after === 'T') return before === 'I' ? 'begin' : null;
  return command === 'COMMIT' ? 'commit' : 'rollback';
}
