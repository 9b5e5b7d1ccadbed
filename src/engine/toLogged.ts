/** Values as a log keeps them: plain data, dates relative to the run. */
import type { LoggedValue } from '../events/events.ts';
import type { QueryResult, Row } from './types.ts';

/** Rows of a result that the log keeps. */
const ROWS_KEPT = 5;

/** @param epochMs milliseconds since 1970 at the beginning of the run: dates are logged relative to it, so that a log repeats. */
export function toLogged(value: unknown, epochMs: number): LoggedValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (value instanceof Date) return { date: Math.round((value.getTime() - epochMs) * 1000) };
  if (value instanceof Uint8Array) return { bytes: value.length };
  if (Array.isArray(value)) return value.map((item) => toLogged(item, epochMs));
  if (typeof value === 'object') return { json: value };
  return value as string | number | boolean;
}

export function toLoggedRows({ rows }: QueryResult, epochMs: number): Record<string, LoggedValue>[] {
  return rows.slice(0, ROWS_KEPT).map((row: Row) => {
    const entries = Object.entries(row).map(([name, value]) => [name, toLogged(value, epochMs)] as const);
    return Object.fromEntries(entries);
  });
}
