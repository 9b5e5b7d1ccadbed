/** What lies in a lesson's folder, for building its pages. */
import type { CellSpec, LessonSpec } from '../lessons/spec.ts';
import type { Recording } from '../runner/recording.ts';

const lessons = import.meta.glob<LessonSpec>('../lessons/*/lesson.ts', { import: 'lesson', eager: true });
const sources = import.meta.glob<string>('../lessons/*/cells/*.ts', { query: '?raw', import: 'default', eager: true });
const schemas = import.meta.glob<string>('../lessons/*/*.sql', { query: '?raw', import: 'default', eager: true });
const recordings = import.meta.glob<Recording>('../lessons/*/recorded/*.json', { import: 'default', eager: true });

export interface SiteFile {
  readonly name: string;
  readonly text: string;
}

export interface SiteCell {
  /** `NN-slug/name`. */
  readonly id: string;
  readonly lesson: LessonSpec;
  readonly spec: CellSpec;
  /** The file that runs. */
  readonly code: SiteFile;
  readonly schema: readonly SiteFile[];
  readonly recording: Recording;
}

/** All cells of all lessons, in order. */
export function listCells(): SiteCell[] {
  return Object.values(lessons).flatMap(({ slug, cells }) =>
    Object.keys(cells).map((name) => readCell(`${slug}/${name}`)),
  );
}

/** @param id `NN-slug/name`. @throws Error that names the file that is missing. */
export function readCell(id: string): SiteCell {
  const [slug = '', name = ''] = id.split('/');
  const lesson = find(lessons, `../lessons/${slug}/lesson.ts`);
  const spec = find(lesson.cells, name);
  const code = readFile(sources, `../lessons/${slug}/cells`, `${name}.ts`);
  const schema = spec.schema.map((file) => readFile(schemas, `../lessons/${slug}`, file));
  const recording = find(recordings, `../lessons/${slug}/recorded/${name}.json`);
  return { id, lesson, spec, code, schema, recording };
}

function readFile(texts: Readonly<Record<string, string>>, folder: string, name: string): SiteFile {
  return { name, text: find(texts, `${folder}/${name}`).trimEnd() };
}

function find<T>(all: Readonly<Record<string, T>>, name: string): T {
  const found = all[name];
  if (found === undefined) throw new Error(`Expected ${name}; there are ${Object.keys(all).join(', ')}.`);
  return found;
}
