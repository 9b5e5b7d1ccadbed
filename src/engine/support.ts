/** Whether this runtime can run sessions at all. */
import { EngineError } from './errors.ts';

/** Whether WebAssembly can suspend its stack (JSPI), which a session needs to wait for a lock. */
export function hasJspi(): boolean {
  const { WebAssembly: wasm } = globalThis as { WebAssembly?: object };
  if (wasm === undefined) return false;
  return isFunction(wasm, 'Suspending') && isFunction(wasm, 'promising');
}

/** @throws EngineError `UNSUPPORTED_RUNTIME`, its message fit to be shown to a reader. */
export function requireJspi(): void {
  if (hasJspi()) return;
  throw new EngineError(
    'UNSUPPORTED_RUNTIME',
    'Live sessions need WebAssembly stack switching (JSPI), which this browser lacks: use Chrome or Edge 137+, Firefox 153+, Safari 27+ or Node 24+.',
  );
}

function isFunction(owner: object, name: string): boolean {
  return typeof Reflect.get(owner, name) === 'function';
}
