/** Makes what the engine boots from, unless it is there: `node scripts/make-assets.ts`. Prints sizes. */
import { ASSETS_DIRECTORY, ensureAssets } from '../src/engine/assets/node.ts';

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000)} kB`;

const manifest = await ensureAssets();
console.log(`PGlite ${manifest.pglite}, PostgreSQL ${manifest.postgres}: ${ASSETS_DIRECTORY.pathname}`);
console.log(`store   ${kilobytes(manifest.storeBytes)} (${kilobytes(manifest.storeBytesRaw)} unpacked)`);
console.log(`bundle  ${kilobytes(manifest.bundleBytes)} (${kilobytes(manifest.bundleBytesRaw)} unpacked)`);
