/**
 * Makes what a cluster boots from out of the installed PGlite (Node only; takes
 * seconds). Readers get the result: initdb never runs in a browser.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { EngineError } from '../errors.ts';
import { blankBundle, parseFileTable, type BlankedFile, type BundleFile } from './bundle.ts';
import { makeStore } from './make-store.ts';
import { installedVersion, packageFile } from './package.ts';
import { ASSET_FILES, type Manifest } from './types.ts';

/** Raise it whenever this directory would make other files from the same PGlite. */
export const GENERATOR = 3;

/** Over this the download is no longer what the design promises. */
const MAX_STORE_BYTES = 3_000_000;

/** Makes the files in an existing or new directory and returns what `manifest.json` says. */
export async function makeAssets(directory: URL): Promise<Manifest> {
  await mkdir(directory, { recursive: true });
  const { image, postgres } = await makeStore();
  const store = await writeGzip(new URL(ASSET_FILES.store, directory), image.toTar());
  if (store.bytes > MAX_STORE_BYTES) {
    throw new EngineError(
      'ASSETS_UNAVAILABLE',
      `The image should have at most ${MAX_STORE_BYTES} bytes, it has ${store.bytes}.`,
    );
  }
  const bundle = await writeGzip(new URL(ASSET_FILES.bundle, directory), (await makeBundle()).bundle);
  const manifest: Manifest = {
    pglite: await installedVersion(),
    postgres,
    generator: GENERATOR,
    storeBytes: store.bytes,
    storeBytesRaw: store.raw,
    storeSha256: store.sha256,
    bundleBytes: bundle.bytes,
    bundleBytesRaw: bundle.raw,
    bundleSha256: bundle.sha256,
  };
  await writeFile(new URL(ASSET_FILES.manifest, directory), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** PGlite's bundle without what `blanks.ts` lists. */
export async function makeBundle(): Promise<{ bundle: Uint8Array; blanked: BlankedFile[] }> {
  const data = await readFile(packageFile('pglite.data'));
  return blankBundle(data, await readFileTable());
}

/** The files of the installed `pglite.data`. */
export async function readFileTable(): Promise<BundleFile[]> {
  const { size } = await stat(packageFile('pglite.data'));
  return parseFileTable(await readGlue(), size);
}

/** The glue lies in a chunk whose name changes with every release. */
async function readGlue(): Promise<string> {
  const names = await readdir(packageFile('.'));
  for (const name of names.filter((each) => each.endsWith('.js')).sort()) {
    const text = await readFile(packageFile(name), 'utf8');
    if (text.includes('remote_package_size:') && text.includes('{filename:"/pglite/')) return text;
  }
  throw new EngineError(
    'INCOMPATIBLE_PGLITE',
    "One of the .js files in PGlite's dist should hold the table of the files in pglite.data; none does. Compare src/engine/assets/make.ts with the installed version.",
  );
}

async function writeGzip(url: URL, raw: Uint8Array): Promise<{ bytes: number; raw: number; sha256: string }> {
  const packed = gzipSync(raw, { level: 9 });
  await writeFile(url, packed);
  return { bytes: packed.length, raw: raw.length, sha256: createHash('sha256').update(packed).digest('hex') };
}
