import type { RaceSpec } from '../lessons/lesson.ts';

const sources = import.meta.glob<string>('../lessons/*/cells/*.ts', { query: '?raw', import: 'default', eager: true });
const lessons = import.meta.glob<{ races: Record<string, RaceSpec> }>('../lessons/*/lesson.ts', { eager: true });

/** The text of the file that runs, and how it is run. `cell` is `NN-slug/name`. */
export function readRaceCell(cell: string): { code: string; spec: RaceSpec } {
  const [slug = '', name = ''] = cell.split('/');
  const code = sources[`../lessons/${slug}/cells/${name}.ts`];
  const spec = lessons[`../lessons/${slug}/lesson.ts`]?.races[name];
  if (code === undefined || spec === undefined)
    throw new Error(`No race "${cell}": its cell or its entry in lesson.ts is missing.`);
  if (spec.cell !== cell) throw new Error(`lesson.ts of ${slug} runs "${spec.cell}" under the name "${name}".`);
  return { code: code.trimEnd(), spec };
}
