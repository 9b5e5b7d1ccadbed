/**
 * Installs the dependencies when they are missing or differ from the lock file.
 * Runs on the system's Node (20 or newer) before anything is installed, so it
 * is plain JavaScript and imports nothing but Node's own modules.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST_NODE = 20;

function readLock(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages ?? {};
  } catch {
    return null;
  }
}

/** The first package that is not installed as the lock file says, or null. npm writes the second file at each install. */
function findDifference() {
  const wanted = readLock('package-lock.json');
  if (wanted === null) throw new Error('package-lock.json is missing or unreadable: restore it from the repository.');
  const installed = readLock('node_modules/.package-lock.json');
  if (installed === null) return 'node_modules is missing';
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.optional || entry.devOptional || entry.peer) continue;
    const found = installed[path]?.version;
    if (found !== entry.version) return `${path}: ${found ?? 'not installed'}, the lock file says ${entry.version}`;
  }
  return null;
}

/** On a Node older than ours npm warns about packages that run on ours only; errors are still printed. */
const INSTALL = ['ci', '--loglevel=error'];

function install() {
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm, ...INSTALL]] : ['npm', INSTALL];
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: !npm && process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm ci ended with status ${status}; its own message is above.`);
}

try {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < OLDEST_NODE) {
    throw new Error(
      `This project needs Node ${OLDEST_NODE} or newer to install itself; this is Node ${process.versions.node}.`,
    );
  }
  const difference = findDifference();
  if (difference !== null) {
    console.log(`Installing dependencies (${difference}).`);
    install();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
