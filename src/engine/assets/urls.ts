/// <reference types="vite/client" />
/**
 * Where a built site keeps the engine's files: hashed names, below its base.
 * Only the browser's side imports this file; Vite resolves `?url`.
 */
import wasm from '@electric-sql/pglite/pglite.wasm?url';
import bundle from '../../../.cache/engine/bundle.data.gz?url';
import store from '../../../.cache/engine/store.tar.gz?url';
import type { AssetUrls } from '../protocol.ts';

/** Absolute, since a worker resolves a relative URL against its own script. */
export function assetUrls(): AssetUrls {
  const absolute = (url: string): string => new URL(url, globalThis.location.href).href;
  return { wasm: absolute(wasm), bundle: absolute(bundle), store: absolute(store) };
}
