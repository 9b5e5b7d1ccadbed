/** The data directory that every cluster starts from: initdb, trimmed, shut down cleanly. */
import { PGlite } from '@electric-sql/pglite';
import { EngineError } from '../errors.ts';
import { Image, SessionFilesystem, type Store } from '../store/index.ts';

/** 1 MB: the first segment is filled with zeros at boot, and 16 MB of them take long. */
const WAL_SEGMENT = 1024 * 1024;
const PAGE = 8192;

/**
 * Settings that initdb writes and nobody gives at start. The rest of its file is
 * comments and sizes that the engine sets on the command line.
 */
const KEPT_SETTINGS =
  /^(datestyle|timezone|log_timezone|lc_\w+|default_text_search_config|dynamic_shared_memory_type)\s*=/;

/**
 * Without its templates a cluster needs 15 MB less. `CREATE DATABASE` then
 * reports that template1 does not exist; it could not be used anyway, since a
 * session cannot switch databases.
 */
const DROP_TEMPLATES = [
  'UPDATE pg_database SET datistemplate = false',
  'DROP DATABASE template0',
  'DROP DATABASE template1',
  'CHECKPOINT',
];

/**
 * Runs initdb (seconds). Two runs differ in the system identifier, in
 * timestamps and in what depends on them, and in nothing that a session shows.
 */
export async function makeStore(): Promise<{ image: Image; postgres: string }> {
  const store = Image.fromTar(await runInitdb()).open();
  const postgres = await dropTemplates(store);
  trim(store);
  return { image: Image.of(store), postgres };
}

async function runInitdb(): Promise<Uint8Array> {
  const db = await PGlite.create({ initDbStartParams: [`--wal-segsize=${WAL_SEGMENT / 2 ** 20}`] });
  const tar = await db.dumpDataDir('none');
  await db.close();
  return new Uint8Array(await tar.arrayBuffer());
}

async function dropTemplates(store: Store): Promise<string> {
  const db = await PGlite.create({ fs: new SessionFilesystem(store) });
  // One message each: several in one message are one transaction.
  for (const statement of DROP_TEMPLATES) await db.exec(statement);
  const { rows } = await db.query<{ server_version: string }>('SHOW server_version');
  await db.close();
  return rows[0]?.server_version ?? 'unknown';
}

function trim(store: Store): void {
  const control = readControl(store);
  keepLastSegment(store, control.checkpoint);
  shortenSettings(store);
  // Written anew at boot, whatever they hold.
  for (const path of ['global/pg_internal.init', 'base/5/pg_internal.init', 'postmaster.opts'])
    removeIfThere(store, path);
  for (const name of store.readdir('pg_stat')) store.unlink(`pg_stat/${name}`);
  if (store.readdir('').includes('postmaster.pid')) throw notClean('postmaster.pid is still there');
}

/** The fields of `ControlFileData` (src/include/catalog/pg_control.h) that matter here. */
function readControl(store: Store): { checkpoint: bigint } {
  const bytes = store.readFile('global/pg_control');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const DB_SHUTDOWNED = 1;
  const state = view.getUint32(16, true);
  if (state !== DB_SHUTDOWNED) throw notClean(`pg_control's state is ${state}, not ${DB_SHUTDOWNED}`);
  return { checkpoint: view.getBigUint64(32, true) };
}

/** After a clean shutdown Postgres reads one record: the checkpoint. What follows it is recycled rubbish. */
function keepLastSegment(store: Store, checkpoint: bigint): void {
  const keep = segmentName(checkpoint);
  for (const name of store.readdir('pg_wal')) {
    if (/^[0-9A-F]{24}$/.test(name) && name !== keep) store.unlink(`pg_wal/${name}`);
  }
  const bytes = store.readFile(`pg_wal/${keep}`);
  const page = Math.floor(Number(checkpoint % BigInt(WAL_SEGMENT)) / PAGE);
  bytes.fill(0, (page + 2) * PAGE);
  store.writeFile(`pg_wal/${keep}`, bytes);
}

/** `XLogFileName` on timeline 1. */
function segmentName(lsn: bigint): string {
  const perId = 2n ** 32n / BigInt(WAL_SEGMENT);
  const number = lsn / BigInt(WAL_SEGMENT);
  const hex = (value: bigint): string => value.toString(16).toUpperCase().padStart(8, '0');
  return hex(1n) + hex(number / perId) + hex(number % perId);
}

function shortenSettings(store: Store): void {
  const text = new TextDecoder().decode(store.readFile('postgresql.conf'));
  const kept = text
    .split('\n')
    .map((line) => line.replace(/\s*#.*$/, '').trim())
    .filter((line) => KEPT_SETTINGS.test(line));
  writeText(store, 'postgresql.conf', `${kept.join('\n')}\n`);
  writeText(store, 'pg_hba.conf', 'local all all trust\n');
  writeText(store, 'pg_ident.conf', '\n');
}

function writeText(store: Store, path: string, text: string): void {
  store.writeFile(path, new TextEncoder().encode(text));
}

function removeIfThere(store: Store, path: string): void {
  const names = path.split('/');
  const name = names.pop() ?? '';
  if (store.readdir(names.join('/')).includes(name)) store.unlink(path);
}

function notClean(found: string): EngineError {
  return new EngineError(
    'INCOMPATIBLE_PGLITE',
    `PGlite should have shut Postgres down cleanly, but ${found}. An image of it would start with recovery.`,
  );
}
