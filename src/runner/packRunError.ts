import { DatabaseError, EngineError } from '../engine/errors.ts';
import type { RunError } from './protocol.ts';

/**
 * Makes plain data of whatever was thrown, so that it survives a thread boundary and can be shown.
 * `thrower` is whose error it is when the error itself does not say.
 */
export function packRunError(error: unknown, thrower: 'code' | 'engine'): RunError {
  if (error instanceof DatabaseError) return packDatabaseError(error);
  if (error instanceof EngineError) {
    const source = error.code === 'UNSUPPORTED_RUNTIME' ? 'unsupported' : 'engine';
    return { source, name: error.name, message: error.message, code: error.code };
  }
  if (error instanceof Error) return { source: thrower, name: error.name, message: error.message };
  return { source: thrower, name: 'Error', message: String(error) };
}

function packDatabaseError({ name, message, code, detail, hint }: DatabaseError): RunError {
  return {
    source: 'database',
    name,
    message,
    ...(code !== undefined && { code }),
    ...(detail !== undefined && { detail }),
    ...(hint !== undefined && { hint }),
  };
}
