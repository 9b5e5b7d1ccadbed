/** The assets in Node: from `.cache/engine`, made there when they are missing or out of date. */
import { mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { EngineError } from '../errors.ts';
import { Image } from '../store/image.ts';
import { GENERATOR, makeAssets } from './make.ts';
import { installedVersion, packageFile } from './package.ts';
import { ASSET_FILES, BUNDLE_BYTES, PGLITE_VERSION, type EngineAssets, type Manifest } from './types.ts';

/** Where the files lie: `.cache/engine` of this repository. */
export const ASSETS_DIRECTORY = new URL('../../../.cache/engine/', import.meta.url);

/**
 * Loads the assets. The first call after `npm install` makes them, which takes
 * a few seconds.
 *
 * @throws EngineError INCOMPATIBLE_PGLITE when another version of PGlite is installed.
 */
export async function loadAssets(directory: URL = ASSETS_DIRECTORY): Promise<EngineAssets> {
  await ensureAssets(directory);
  const [wasm, bundle, store] = await Promise.all([
    readFile(packageFile('pglite.wasm')),
    readFile(new URL(ASSET_FILES.bundle, directory)),
    readFile(new URL(ASSET_FILES.store, directory)),
  ]);
  return {
    pgliteVersion: PGLITE_VERSION,
    wasm,
    bundle: toArrayBuffer(gunzipSync(bundle)),
    store: Image.fromTar(gunzipSync(store)),
  };
}

/** Makes the files unless they are there, whole, and made from the installed PGlite by this code. */
export async function ensureAssets(directory: URL = ASSETS_DIRECTORY): Promise<Manifest> {
  await assertVersion();
  return (await readManifest(directory)) ?? (await makeInPlace(directory));
}

async function assertVersion(): Promise<void> {
  const installed = await installedVersion();
  if (installed === PGLITE_VERSION) return;
  throw new EngineError(
    'INCOMPATIBLE_PGLITE',
    `The engine needs PGlite ${PGLITE_VERSION}, ${installed} is installed. Run npm ci.`,
  );
}

/** The manifest, when it is valid for this code and its files have the sizes that it says. */
async function readManifest(directory: URL): Promise<Manifest | undefined> {
  try {
    const manifest = JSON.parse(await readFile(new URL(ASSET_FILES.manifest, directory), 'utf8')) as Manifest;
    if (manifest.pglite !== PGLITE_VERSION || manifest.generator !== GENERATOR) return undefined;
    if (manifest.bundleBytesRaw !== BUNDLE_BYTES) return undefined;
    const [store, bundle] = await Promise.all([
      stat(new URL(ASSET_FILES.store, directory)),
      stat(new URL(ASSET_FILES.bundle, directory)),
    ]);
    return store.size === manifest.storeBytes && bundle.size === manifest.bundleBytes ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Two processes may come here at once (test files run in parallel). Each makes
 * the files in a directory of its own and moves that into place; who comes
 * second finds valid files there and takes them.
 */
async function makeInPlace(directory: URL): Promise<Manifest> {
  const target = fileURLToPath(directory).replace(/[\\/]$/, '');
  await mkdir(new URL('..', directory), { recursive: true });
  const scratch = await mkdtemp(`${target}-`);
  try {
    const manifest = await makeAssets(pathToFileURL(`${scratch}/new/`));
    const done = await readManifest(directory);
    if (done !== undefined) return done;
    await replaceDirectory(`${scratch}/new`, target, `${scratch}/old`);
    return (await readManifest(directory)) ?? manifest;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A directory that is not empty cannot be renamed over: what is there steps aside first. */
async function replaceDirectory(from: string, to: string, aside: string): Promise<void> {
  await rename(to, aside).catch(ignore('ENOENT'));
  await rename(from, to).catch(ignore('ENOTEMPTY', 'EEXIST', 'EPERM'));
}

function ignore(...codes: string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(copy).set(bytes);
  return copy;
}
