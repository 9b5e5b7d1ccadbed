/** What a cluster boots from, however it was loaded. */
import type { Image } from '../store/image.ts';

/** The one version of PGlite that the engine's hooks are written for. */
export const PGLITE_VERSION = '0.5.17';

/** Size of that version's `pglite.data`. PGlite refuses a bundle of another size. */
export const BUNDLE_BYTES = 6_241_295;

export interface EngineAssets {
  readonly pgliteVersion: string;
  /** `pglite.wasm` as PGlite ships it; the engine patches it at load. */
  readonly wasm: Uint8Array;
  /** `pglite.data` with the files that nobody here needs blanked. One copy serves all sessions. */
  readonly bundle: ArrayBuffer;
  /** The data directory after initdb and a clean shutdown: superuser and database `postgres`. */
  readonly store: Image;
}

/** The names of the files that `make.ts` writes. */
export const ASSET_FILES = {
  store: 'store.tar.gz',
  bundle: 'bundle.data.gz',
  manifest: 'manifest.json',
} as const;

/** Beside the made files: what they were made from, and how to tell that they are whole. */
export interface Manifest {
  /** Version of the npm package. */
  readonly pglite: string;
  /** `server_version`. */
  readonly postgres: string;
  /** `GENERATOR` of `make.ts`. */
  readonly generator: number;
  /** Bytes of the compressed file, and of what is in it. */
  readonly storeBytes: number;
  readonly storeBytesRaw: number;
  readonly storeSha256: string;
  readonly bundleBytes: number;
  readonly bundleBytesRaw: number;
  readonly bundleSha256: string;
}
