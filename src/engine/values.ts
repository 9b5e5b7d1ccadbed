/** Parameter values to Postgres' text format, as node-postgres prepares them (`pg/lib/utils.js`). */
import { EngineError } from './errors.ts';

/** What a Bind message carries: text, bytes (sent in binary format), or NULL. */
export type WireValue = string | Uint8Array | null;

/** @throws EngineError BAD_ARGUMENT for a value that has no text form. */
export function prepareValue(value: unknown): WireValue {
  if (value === null || value === undefined) return null;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Date) return formatDate(value);
  if (Array.isArray(value)) return formatArray(value);
  if (typeof value === 'object') return formatObject(value);
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new EngineError(
      'BAD_ARGUMENT',
      `A parameter is a ${typeof value}; pass a string, number, boolean, Date, array or object.`,
    );
  }
  return String(value);
}

function formatObject(value: object): WireValue {
  if (preparesItself(value)) return prepareValue(value.toPostgres(prepareValue));
  return JSON.stringify(value);
}

interface PreparesItself {
  toPostgres(prepare: typeof prepareValue): unknown;
}

function preparesItself(value: object): value is PreparesItself {
  return 'toPostgres' in value && typeof value.toPostgres === 'function';
}

function formatArray(items: readonly unknown[]): string {
  return `{${items.map(formatItem).join(',')}}`;
}

function formatItem(item: unknown): string {
  if (Array.isArray(item)) return formatArray(item);
  const value = prepareValue(item);
  if (value === null) return 'NULL';
  if (typeof value !== 'string') return `\\\\x${[...value].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Local time with its offset, so that `timestamp` and `timestamptz` columns both get what was meant. */
function formatDate(date: Date): string {
  const digits = (value: number, width = 2): string => String(value).padStart(width, '0');
  const year = date.getFullYear();
  const offset = -date.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  const day = `${digits(year < 1 ? 1 - year : year, 4)}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
  const time = `${digits(date.getHours())}:${digits(date.getMinutes())}:${digits(date.getSeconds())}.${digits(date.getMilliseconds(), 3)}`;
  return `${day}T${time}${offset < 0 ? '-' : '+'}${digits(hours)}:${digits(minutes)}${year < 1 ? ' BC' : ''}`;
}
