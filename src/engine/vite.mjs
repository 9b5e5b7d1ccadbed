/**
 * What Vite must know about PGlite. The engine hands PGlite its WASM modules
 * and its file bundle, so PGlite's own fallbacks, `new URL('./pglite.data',
 * import.meta.url)` and the like, are never fetched. Vite cannot know that and
 * would ship them: 6.2 MB of pglite.data and initdb.wasm.
 */

const PGLITE = /\/@electric-sql\/pglite\/dist\/[^?]*\.js(?:$|\?)/;
const FALLBACK = /new URL\("(?:\.\/)?([\w.-]+\.(?:wasm|data))",\s*import\.meta\.url\)/g;
/** The option by which the engine gives PGlite the file. */
const OPTIONS = { 'pglite.wasm': 'pgliteWasmModule', 'pglite.data': 'fsBundle', 'initdb.wasm': 'initdbWasmModule' };
/** Branches for Node in PGlite's code, and its file systems that the engine replaces. */
const UNUSED =
  /^(?:node:)?(?:module|fs|path|zlib|stream(?:\/promises)?|url|crypto)$|^\.\/fs\/(?:nodefs|opfs-ahp|memfs2opfs)\.js$/;
const STUB = '\0oversold:unused';

/** @returns {import('vite').Plugin} for `vite.plugins` in astro.config.mjs; workers get it from here. */
export function pglite() {
  return { ...rewrite(), config: () => settings() };
}

/** @returns {import('vite').UserConfig} */
function settings() {
  return {
    // Pre-bundled, its files would lie in another folder than import.meta.url says.
    optimizeDeps: { exclude: ['@electric-sql/pglite'] },
    worker: { format: 'es', plugins: () => [rewrite()] },
  };
}

/** @returns {import('vite').Plugin} */
function rewrite() {
  return {
    name: 'oversold:pglite',
    enforce: 'pre',
    resolveId(source, importer) {
      return importer !== undefined && PGLITE.test(importer) && UNUSED.test(source) ? STUB : null;
    },
    load(id) {
      return id === STUB ? 'export {};' : null;
    },
    transform(code, id) {
      return PGLITE.test(id) ? { code: refuseFallbacks(code), map: null } : null;
    },
    onLog(_level, log) {
      // PGlite's glue may eval what a side module brings; a warning on every build hides others.
      return log.code === 'EVAL' && PGLITE.test(log.id ?? log.loc?.file ?? '') ? false : undefined;
    },
  };
}

/** @param {string} code */
function refuseFallbacks(code) {
  return code.replace(FALLBACK, (_match, file) => {
    if (!(file in OPTIONS))
      throw new Error(`PGlite loads ${file}, which this plugin does not know: say here how the engine gives it.`);
    const message = `${file} is not part of this site: give PGlite the option ${OPTIONS[file]}.`;
    return `(()=>{throw new Error(${JSON.stringify(message)})})()`;
  });
}
