/** How the site's cells are run, from what their lessons say about them. */
import type { LessonSpec } from '../lessons/spec.ts';
import type { RunPlan } from './plan.ts';

const lessons = import.meta.glob<LessonSpec>('../lessons/*/lesson.ts', { import: 'lesson', eager: true });
const schemas = import.meta.glob<string>('../lessons/*/*.sql', { query: '?raw', import: 'default', eager: true });

/** @param cell `NN-slug/name`. @throws Error when there is none. */
export function planRun(cell: string, { seed, sessions }: Pick<RunPlan, 'seed' | 'sessions'>): RunPlan {
  const [slug = '', name = ''] = cell.split('/');
  const spec = lessons[`../lessons/${slug}/lesson.ts`]?.cells[name];
  if (spec === undefined) throw new Error(`No lesson.ts describes the cell "${cell}".`);
  const { tally, settings = {} } = spec;
  const parameters = { ...spec.parameters, connections: sessions };
  return { cell, seed, sessions, parameters, schema: readSchema(slug, spec.schema), tally, settings };
}

function readSchema(slug: string, files: readonly string[]): string {
  return files.map((file) => schemas[`../lessons/${slug}/${file}`] ?? raiseNoFile(slug, file)).join('\n');
}

function raiseNoFile(slug: string, file: string): never {
  throw new Error(`lesson.ts of ${slug} names ${file}, which its folder does not have.`);
}
