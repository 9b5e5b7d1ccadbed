/** How what happened to a statement reads in the log. */
import type { TransactionStatus, Unstamped } from '../events/events.ts';
import { DatabaseError } from './errors.ts';
import { toLoggedRows } from './toLogged.ts';
import type { LockWait, QueryResult } from './types.ts';

/** A statement, as its events name it. */
export interface LoggedQuery {
  readonly number: number;
  readonly session: number;
  readonly customer: number | null;
}

/** What a statement came to. */
export type Settled = { readonly results: QueryResult[] } | { readonly error: Error };

/** Never rejects. */
export async function settle(results: Promise<QueryResult[]>): Promise<Settled> {
  try {
    return { results: await results };
  } catch (error) {
    return { error: error as Error };
  }
}

/** Two waits with the same name are the same wait. */
export function nameOfLock({ lockType, mode, relation, page, tuple, transaction, blockedBy }: LockWait): string {
  return [lockType, mode, relation, page, tuple, transaction, ...blockedBy].join(' ');
}

/** What a statement did to its session's transaction block, from the status before and after; null for nothing. */
export function transactionAction(
  before: TransactionStatus,
  after: TransactionStatus,
  outcome: Settled,
): 'begin' | 'commit' | 'rollback' | 'fail' | null {
  if (before === after) return null;
  if (before === 'I') return after === 'T' ? 'begin' : 'fail';
  if (after === 'E') return 'fail';
  if (after === 'T') return null;
  const last = 'results' in outcome ? outcome.results.at(-1)?.command : undefined;
  return last === 'COMMIT' ? 'commit' : 'rollback';
}

/** @param epochMs see `toLogged`. */
export function describeOutcome(
  { number: query, session, customer }: LoggedQuery,
  outcome: Settled,
  { finishedAt, transaction, epochMs }: { finishedAt: number; transaction: TransactionStatus; epochMs: number },
): Unstamped {
  if ('error' in outcome)
    return { type: 'query-failed', query, finishedAt, ...describeError(outcome.error), transaction, session, customer };
  const last = outcome.results.at(-1);
  const { command, rowCount } = last ?? { command: '', rowCount: null };
  const rows = last === undefined ? [] : toLoggedRows(last, epochMs);
  return { type: 'query-done', query, finishedAt, command, rowCount, rows, transaction, session, customer };
}

function describeError(error: Error) {
  const {
    code = 'XX000',
    detail = null,
    hint = null,
    constraint = null,
    position,
  } = error instanceof DatabaseError ? error : {};
  return {
    code,
    message: error.message,
    detail,
    hint,
    constraint,
    position: position === undefined ? null : Number(position),
  };
}
