/** A throw-away PostgreSQL server in a temporary directory, on a free loopback port. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServerBinaries } from './binaries.ts';

export type NativeServer =
  | { readonly kind: 'ready'; readonly url: string; stop(): Promise<void> }
  | { readonly kind: 'missing'; readonly reason: string };

const READY = 'database system is ready to accept connections';
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '60',
  autovacuum: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  listen_addresses: '127.0.0.1',
} as const;

/** Whom to run the server as. `initdb` and `postgres` refuse to run as root. */
interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

function serverAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address of the probe socket');
  return address.port;
}

function makeHome(account: Account): string {
  const home = mkdtempSync(join(tmpdir(), 'oversold-pg-'));
  if (account.uid !== undefined && account.gid !== undefined) chownSync(home, account.uid, account.gid);
  return home;
}

/** `C` messages: the tests read them. */
function initDatabase(bin: string, home: string, account: Account): void {
  const args = ['-D', join(home, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), args, { ...account, cwd: home, stdio: 'pipe' });
}

function launch(bin: string, home: string, port: number, account: Account): ChildProcess {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const args = ['-D', join(home, 'data'), '-p', String(port), '-k', home, ...settings];
  return spawn(join(bin, 'postgres'), args, { ...account, cwd: home, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Resolves when the server says that it is ready; rejects with its last words when it ends first. */
async function untilReady(server: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const giveUp = () => reject(new Error(`postgres did not become ready: ${log.slice(-500)}`));
    const timer = setTimeout(giveUp, START_TIMEOUT_MS);
    server.once('exit', giveUp);
    server.once('error', reject);
    server.stderr?.on('data', (chunk: Buffer) => {
      if (!log.includes(READY)) log += chunk.toString();
      if (!log.includes(READY)) return;
      clearTimeout(timer);
      server.off('exit', giveUp);
      resolve();
    });
  });
}

/** SIGINT is Postgres' fast shutdown; what does not heed it is killed. */
async function shutDown(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  const killer = setTimeout(() => server.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(killer);
}

const removeHome = (home: string) => rmSync(home, { recursive: true, force: true, maxRetries: 10 });

/** SIGQUIT is Postgres' immediate shutdown. `$1` is the server's pid, `$2` its directory. */
const GUARD_SCRIPT = 'read -r word || { kill -QUIT "$1"; while kill -0 "$1"; do sleep 0.1; done; rm -rf "$2"; }';

/**
 * Ends the server when this process ends first, however it ends: the guard
 * reads from a pipe that closes with this process. Call what it returns after
 * an orderly stop.
 */
function guard(pid: number, home: string): () => void {
  const watcher = spawn('sh', ['-c', GUARD_SCRIPT, 'guard', String(pid), home], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  return () => watcher.stdin.end('stopped\n');
}

async function start(bin: string): Promise<NativeServer> {
  const account = serverAccount();
  const home = makeHome(account);
  let server: ChildProcess | undefined;
  let dismissGuard = () => {};
  const stop = async () => {
    if (server) await shutDown(server);
    dismissGuard();
    removeHome(home);
  };
  try {
    initDatabase(bin, home, account);
    const port = await freePort();
    server = launch(bin, home, port, account);
    if (server.pid !== undefined) dismissGuard = guard(server.pid, home);
    await untilReady(server);
    return { kind: 'ready', url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/** Starts a server, or says why none can be had. Never rejects. */
export async function startNativeServer(): Promise<NativeServer> {
  const bin = findServerBinaries();
  if (bin === null)
    return { kind: 'missing', reason: 'no initdb and postgres found; install PostgreSQL or set OVERSOLD_PG_BIN' };
  try {
    return await start(bin);
  } catch (cause) {
    return { kind: 'missing', reason: `${bin}: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}
