/** Runs a cell as a module of its own, in the worker that imports this. */
import * as lab from '../lab/index.ts';
import { bindLab, labModule, STAGE, type Stage } from './bindLab.ts';

const texts = import.meta.glob<string>('../lessons/*/cells/*.ts', { query: '?cell', import: 'default' });

/**
 * Runs the cell to its end.
 *
 * @param cell `NN-slug/name`
 * @param begin is called once, when all is loaded, with the URL that the cell's frames in a stack trace have; the cell
 *   begins in the turn of the event loop in which it resolves
 * @throws what the cell throws
 */
export async function importCell(cell: string, begin: (url: string) => Promise<void>): Promise<void> {
  const load = texts[`../lessons/${cell.replace('/', '/cells/')}.ts`];
  if (load === undefined) throw new Error(`There is no cell "${cell}"; the site has ${Object.keys(texts).join(', ')}.`);
  const url = moduleUrl(bindLab(await load(), moduleUrl(labModule(Object.keys(lab)))));
  Reflect.set(globalThis, Symbol.for(STAGE), { lab, begin: () => begin(url) } satisfies Stage);
  await import(/* @vite-ignore */ url);
}

/** Never revoked: the worker ends with its run. */
function moduleUrl(code: string): string {
  return URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
}
