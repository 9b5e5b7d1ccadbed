/**
 * `pglite.data` is Postgres' installation directory: files back to back. Where
 * each begins is written in PGlite's JavaScript only, so it is read from there.
 */
import { EngineError } from '../errors.ts';
import { leftOutLibrary, leftOutText } from './left-out.ts';
import { reasonToBlank, type Reason } from './blanks.ts';

export interface BundleFile {
  /** Absolute, for example `/pglite/lib/postgresql/plpgsql.so`. */
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

export interface BlankedFile extends BundleFile {
  readonly reason: Reason;
}

/**
 * Reads the file table out of PGlite's glue code.
 *
 * @throws EngineError INCOMPATIBLE_PGLITE when the table is not where it was, or does not fit the bundle.
 */
export function parseFileTable(glue: string, bundleBytes: number): BundleFile[] {
  const entries = glue.matchAll(/\{filename:"([^"]+)",start:(\d+),end:(\d+)[,}]/g);
  const files = [...entries].map(([, path = '', start, end]) => ({
    path,
    start: Number(start),
    end: Number(end),
  }));
  const end = assertContiguous(files);
  if (end !== bundleBytes) {
    throw incompatible(`the table ends at byte ${end}, pglite.data has ${bundleBytes}`);
  }
  return files;
}

function assertContiguous(files: readonly BundleFile[]): number {
  if (files.length === 0) throw incompatible('no entry {filename, start, end} was found');
  let at = 0;
  for (const file of files) {
    if (file.start !== at || file.end < at) {
      throw incompatible(`${file.path} should start at byte ${at}, but starts at ${file.start}`);
    }
    at = file.end;
  }
  return at;
}

function incompatible(found: string): EngineError {
  return new EngineError(
    'INCOMPATIBLE_PGLITE',
    `PGlite's glue code should hold a table of the files in pglite.data; ${found}. Compare src/engine/assets/bundle.ts with the installed version.`,
  );
}

/** A copy of the bundle, same size and offsets, in which what `blanks.ts` lists says that it was left out. */
export function blankBundle(
  data: Uint8Array,
  files: readonly BundleFile[],
): { bundle: Uint8Array; blanked: BlankedFile[] } {
  const bundle = data.slice();
  const blanked: BlankedFile[] = [];
  for (const file of files) {
    const reason = reasonToBlank(file.path);
    if (reason === undefined) continue;
    bundle.set(filler(file, reason), file.start);
    blanked.push({ ...file, reason });
  }
  return { bundle, blanked };
}

function filler(file: BundleFile, reason: Reason): Uint8Array {
  const length = file.end - file.start;
  if (reason.filler === 'zeros') return new Uint8Array(length);
  return reason.filler === 'library' ? leftOutLibrary(length) : leftOutText(length);
}
