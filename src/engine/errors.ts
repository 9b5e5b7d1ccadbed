/**
 * The engine's errors. Each says what was expected, what was found and what to
 * do next, and each survives a thread boundary (see `packError`).
 */

/** The fields of Postgres' ErrorResponse that node-postgres exposes. */
export interface DatabaseErrorFields {
  severity?: string;
  /** SQLSTATE, for example `40P01`. */
  code?: string;
  detail?: string;
  hint?: string;
  /** 1-based character offset in the statement, as text (as node-postgres gives it). */
  position?: string;
  internalPosition?: string;
  internalQuery?: string;
  where?: string;
  schema?: string;
  table?: string;
  column?: string;
  dataType?: string;
  constraint?: string;
  file?: string;
  line?: string;
  routine?: string;
}

/** The names of the fields, for copying them. */
export const DATABASE_ERROR_FIELDS = [
  'severity',
  'code',
  'detail',
  'hint',
  'position',
  'internalPosition',
  'internalQuery',
  'where',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'file',
  'line',
  'routine',
] as const satisfies readonly (keyof DatabaseErrorFields)[];

/** An error that Postgres reported, in node-postgres' shape. */
export class DatabaseError extends Error implements DatabaseErrorFields {
  override readonly name = 'DatabaseError';
  declare severity?: string;
  declare code?: string;
  declare detail?: string;
  declare hint?: string;
  declare position?: string;
  declare internalPosition?: string;
  declare internalQuery?: string;
  declare where?: string;
  declare schema?: string;
  declare table?: string;
  declare column?: string;
  declare dataType?: string;
  declare constraint?: string;
  declare file?: string;
  declare line?: string;
  declare routine?: string;

  constructor(message: string, fields: DatabaseErrorFields = {}) {
    super(message);
    for (const name of DATABASE_ERROR_FIELDS) {
      const value = fields[name];
      if (value !== undefined) this[name] = value;
    }
  }
}

/** What went wrong with the engine itself, as opposed to a statement. */
export type EngineErrorCode =
  /** The runtime lacks JSPI (`WebAssembly.Suspending`). */
  | 'UNSUPPORTED_RUNTIME'
  /** A constant of the pinned PGlite did not hold. */
  | 'INCOMPATIBLE_PGLITE'
  /** The store image or PGlite's files could not be loaded. */
  | 'ASSETS_UNAVAILABLE'
  /** An argument out of range. */
  | 'BAD_ARGUMENT'
  /** The session was terminated or its cluster was closed. */
  | 'SESSION_ENDED'
  /** The cluster died: its worker was ended, or WASM trapped. Boot a new one. */
  | 'CLUSTER_FAILED'
  /** `close()` was called. */
  | 'CLUSTER_CLOSED';

/** An error of the engine. `code` tells which; it is never a SQLSTATE (those have five characters). */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
