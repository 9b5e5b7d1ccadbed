/** Where the installed PGlite is (Node only). */
import { readFile } from 'node:fs/promises';
import { EngineError } from '../errors.ts';

/** A file of the package's `dist`. */
export function packageFile(name: string): URL {
  return new URL(name, import.meta.resolve('@electric-sql/pglite'));
}

/** The version in the package's own package.json (which it does not export). */
export async function installedVersion(): Promise<string> {
  const text = await readFile(packageFile('../package.json'), 'utf8');
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed === 'object' && parsed !== null && 'version' in parsed && typeof parsed.version === 'string') {
    return parsed.version;
  }
  throw new EngineError(
    'INCOMPATIBLE_PGLITE',
    "PGlite's package.json should have a version, it has none. Run npm install.",
  );
}
