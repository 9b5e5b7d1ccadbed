/**
 * Errors as plain data. Structured clone keeps an error's message only; a
 * statement's SQLSTATE, detail and position must cross a thread boundary, too.
 */
import { DATABASE_ERROR_FIELDS, DatabaseError, EngineError } from './errors.ts';
import type { DatabaseErrorFields, EngineErrorCode } from './errors.ts';

interface PackedText {
  readonly message: string;
  readonly stack: string | null;
}

export type PackedError =
  | (PackedText & { readonly kind: 'database'; readonly fields: DatabaseErrorFields })
  | (PackedText & { readonly kind: 'engine'; readonly code: EngineErrorCode; readonly cause: PackedError | null })
  | (PackedText & { readonly kind: 'other'; readonly name: string; readonly cause: PackedError | null });

/** How many causes are kept: enough to read, and an end for a chain that bites its tail. */
const MAX_CAUSES = 4;

/** Packs whatever was thrown, an Error or not. */
export function packError(thrown: unknown): PackedError {
  return pack(thrown, MAX_CAUSES);
}

/** Makes a real instance of the class that was packed; of Error, under the old name, if it was none of ours. */
export function unpackError(packed: PackedError): Error {
  const error = construct(packed);
  if (packed.stack !== null) define(error, 'stack', packed.stack);
  return error;
}

function pack(thrown: unknown, causes: number): PackedError {
  if (!(thrown instanceof Error)) {
    return { kind: 'other', name: 'Error', message: describe(thrown), stack: null, cause: null };
  }
  const text = { message: thrown.message, stack: thrown.stack ?? null };
  if (thrown instanceof DatabaseError) return { kind: 'database', ...text, fields: pickFields(thrown) };
  const cause = thrown.cause === undefined || causes === 0 ? null : pack(thrown.cause, causes - 1);
  if (thrown instanceof EngineError) return { kind: 'engine', ...text, code: thrown.code, cause };
  return { kind: 'other', ...text, name: thrown.name, cause };
}

function construct(packed: PackedError): Error {
  if (packed.kind === 'database') return new DatabaseError(packed.message, packed.fields);
  const options = packed.cause === null ? {} : { cause: unpackError(packed.cause) };
  if (packed.kind === 'engine') return new EngineError(packed.code, packed.message, options);
  const error = new Error(packed.message, options);
  if (packed.name !== error.name) define(error, 'name', packed.name);
  return error;
}

function pickFields(error: DatabaseError): DatabaseErrorFields {
  const fields: DatabaseErrorFields = {};
  for (const name of DATABASE_ERROR_FIELDS) {
    const value = error[name];
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/** Not enumerable, as on an error that was never packed. */
function define(error: Error, name: 'name' | 'stack', value: string): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false });
}

function describe(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'a value that cannot be shown was thrown';
  }
}
