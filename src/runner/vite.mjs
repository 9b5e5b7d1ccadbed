/**
 * What Vite must know about cells: `cells/naive.ts?cell` is the text of the file with its types blanked out, to be run
 * as a module of its own. Bundled, its lines would be lost, and the line that sent a statement is part of a run's log.
 * Node runs a cell through the same function, so lines and columns agree with the recorded runs.
 */
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';

const CELL = '?cell';

/** @returns {import('vite').Plugin} for `vite.plugins` in astro.config.mjs; workers get it from here. */
export function cells() {
  return { ...load(), config: () => ({ worker: { plugins: () => [load()] } }) };
}

/** @returns {import('vite').Plugin} */
function load() {
  return {
    name: 'oversold:cells',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith(CELL)) return null;
      const file = id.slice(0, -CELL.length);
      this.addWatchFile(file);
      return `export default ${JSON.stringify(blankTypes(await readFile(file, 'utf8')))};`;
    },
  };
}

/** Node says once that the function is experimental; a warning on every build hides others. */
function blankTypes(code) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
}
