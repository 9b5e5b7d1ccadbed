/** Lessons and cells by name, as they lie in `src/lessons`. */
import { readFile, readdir } from 'node:fs/promises';
import type { CellSpec, LessonSpec } from '../../lessons/spec.ts';

const LESSONS = new URL('../../lessons/', import.meta.url);

export interface FoundCell {
  /** `NN-slug/name`. */
  readonly id: string;
  readonly lesson: string;
  readonly name: string;
  readonly spec: CellSpec;
  /** URL of the cell's file. */
  readonly url: string;
  /** The statements that make its tables. */
  readonly schema: string;
}

/** All cells of all lessons, in order. */
export async function findCells(): Promise<FoundCell[]> {
  const folders = (await readdir(LESSONS, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const lessons = await Promise.all(folders.sort().map(loadLesson));
  return Promise.all(
    lessons.flatMap((lesson) => Object.entries(lesson.cells).map(([name, spec]) => describeCell(lesson, name, spec))),
  );
}

/** @param id `NN-slug/name`. @throws Error that lists what there is. */
export async function findCell(id: string): Promise<FoundCell> {
  const cells = await findCells();
  const found = cells.find((cell) => cell.id === id);
  if (found === undefined)
    throw new Error(`There is no cell '${id}'. There are:\n${cells.map((cell) => `  ${cell.id}`).join('\n')}`);
  return found;
}

async function loadLesson(slug: string): Promise<LessonSpec> {
  const { lesson } = (await import(new URL(`${slug}/lesson.ts`, LESSONS).href)) as { lesson: LessonSpec };
  return lesson;
}

async function describeCell({ slug }: LessonSpec, name: string, spec: CellSpec): Promise<FoundCell> {
  const folder = new URL(`${slug}/`, LESSONS);
  const files = await Promise.all(spec.schema.map((file) => readFile(new URL(file, folder), 'utf8')));
  return {
    id: `${slug}/${name}`,
    lesson: slug,
    name,
    spec,
    url: new URL(`cells/${name}.ts`, folder).href,
    schema: files.join('\n'),
  };
}
