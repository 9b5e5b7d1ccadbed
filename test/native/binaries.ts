/** Finds the programs of an installed PostgreSQL server. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const DEBIAN_ROOT = '/usr/lib/postgresql';

/** Where Debian puts each major version, newest first. */
function debianDirs(): string[] {
  if (!existsSync(DEBIAN_ROOT)) return [];
  const majors = readdirSync(DEBIAN_ROOT).sort((a, b) => Number(b) - Number(a));
  return majors.map((major) => join(DEBIAN_ROOT, major, 'bin'));
}

function pgConfigDirs(): string[] {
  try {
    return [execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio: 'pipe' }).trim()];
  } catch {
    return [];
  }
}

function candidateDirs(): string[] {
  const chosen = process.env['OVERSOLD_PG_BIN'];
  if (chosen) return [chosen];
  return [...pgConfigDirs(), ...debianDirs(), ...(process.env['PATH'] ?? '').split(delimiter)];
}

/** The directory that holds both `initdb` and `postgres`, or null. `OVERSOLD_PG_BIN` overrides the search. */
export function findServerBinaries(): string | null {
  const complete = (dir: string) => existsSync(join(dir, 'initdb')) && existsSync(join(dir, 'postgres'));
  return candidateDirs().find(complete) ?? null;
}
