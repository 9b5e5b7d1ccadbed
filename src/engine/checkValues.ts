/** Names the parameter that cannot go to a worker. */
import { EngineError } from './errors.ts';

/**
 * Why `postMessage` refused a statement. Called after the refusal only: asking
 * before would clone every parameter twice.
 */
export function explainRefusal(values: readonly unknown[], refusal: unknown): EngineError {
  const index = values.findIndex((value) => !isCloneable(value));
  const message =
    index < 0
      ? 'The statement cannot be sent to the cluster: it must be a string.'
      : `Parameter $${index + 1} (values[${index}]) is or holds ${describe(values[index])}, which no statement can take: pass a string, number, bigint, boolean, null, Date, Uint8Array, array or plain object.`;
  return new EngineError('BAD_ARGUMENT', message, { cause: refusal });
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

function describe(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  return 'a function, a symbol or an object of the runtime';
}
