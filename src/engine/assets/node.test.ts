/** The made assets, under a single stock PGlite: they boot, and what was left out says so. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { SessionFilesystem, type Store, type StoreOptions } from '../store/index.ts';
import { makeBundle, readFileTable } from './make.ts';
import { ensureAssets, loadAssets } from './node.ts';
import { installedVersion, packageFile } from './package.ts';
import { BUNDLE_BYTES, PGLITE_VERSION, type EngineAssets } from './types.ts';

const SETTINGS = [
  'shared_buffers=1MB',
  'wal_buffers=64kB',
  'max_connections=50',
  'io_max_concurrency=1',
  'autovacuum=off',
  'max_wal_size=10GB',
  'min_dynamic_shared_memory=2MB',
  'max_stack_depth=500kB',
];

let assets: EngineAssets;

before(async () => {
  assets = await loadAssets();
});

async function boot(options: StoreOptions = {}): Promise<{ db: PGlite; store: Store }> {
  const store = assets.store.open(options);
  const db = await PGlite.create({
    fs: new SessionFilesystem(store),
    fsBundle: { arrayBuffer: async () => assets.bundle } as Blob,
    startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ['-c', setting])],
  });
  return { db, store };
}

/** With `exec`: PGlite's `query` takes several messages, and a failed one hides what follows. */
async function value(db: PGlite, sql: string): Promise<unknown> {
  const results = await db.exec(sql);
  return Object.values(results.at(-1)?.rows[0] ?? {})[0];
}

test('the pinned version is the installed one', async () => {
  assert.equal(await installedVersion(), PGLITE_VERSION);
  assert.equal(assets.bundle.byteLength, BUNDLE_BYTES);
  assert.deepEqual(assets.wasm.subarray(0, 4), Buffer.from('\0asm'));
});

test('the image holds a database that was shut down cleanly, and one only', async () => {
  const image = assets.store.open();
  assert.ok(!image.readdir('').some((name) => name.endsWith('.pid') || name.endsWith('.opts')));
  assert.deepEqual(image.readdir('base'), ['5']);
  const { db } = await boot();
  assert.equal(await value(db, 'SELECT string_agg(datname, chr(44)) FROM pg_database'), 'postgres');
  assert.equal(await value(db, 'SELECT current_user'), 'postgres');
  await db.close();
});

test('SQL as lessons and the scratch page use it', async () => {
  const { db } = await boot();
  await db.exec(`
    CREATE TABLE stock (id int PRIMARY KEY, name text UNIQUE, left_over int CHECK (left_over >= 0));
    INSERT INTO stock SELECT g, 'item ' || g, 10 FROM generate_series(1, 2000) g;
    CREATE FUNCTION buy(item int) RETURNS int LANGUAGE plpgsql AS $$
      DECLARE rest int; BEGIN UPDATE stock SET left_over = left_over - 1 WHERE id = item RETURNING left_over INTO rest; RETURN rest; END $$;
    UPDATE stock SET left_over = 5 WHERE id % 2 = 0; DELETE FROM stock WHERE id > 1500;
  `);
  for (const maintenance of ['CHECKPOINT', 'VACUUM FULL stock', 'REINDEX TABLE stock', 'ANALYZE'])
    await db.exec(maintenance);
  assert.equal(await value(db, 'SELECT buy(2)'), 4);
  await assert.rejects(db.exec('UPDATE stock SET left_over = -1'), { code: '23514' });
  assert.equal(
    await value(db, "SELECT (timestamptz '2026-07-01 12:00Z' AT TIME ZONE 'Europe/Berlin')::text"),
    '2026-07-01 14:00:00',
  );
  assert.equal(await value(db, "SELECT to_tsvector('english', 'running dogs')::text"), "'dog':2 'run':1");
  assert.equal(await value(db, "SELECT to_tsvector('russian', 'бегущий')::text"), "'бегущ':1");
  assert.equal(await value(db, `SELECT lower('ÄÖ' COLLATE pg_unicode_fast)`), 'äö');
  assert.equal(await value(db, 'SELECT count(*)::int > 500 FROM pg_timezone_names'), true);
  await db.close();
});

test('what was left out says so, every time, and the session lives on', async () => {
  const { db } = await boot();
  const leftOut = { code: 'XX000', detail: /library has "left out of this copy of PGlite"/ };
  const touches: [sql: string, error: object][] = [
    ["SELECT convert_to('é', 'LATIN1')", leftOut],
    ["SELECT convert_to('é', 'LATIN1')", leftOut],
    ["SELECT convert_from('\\xb1', 'SJIS')", leftOut],
    ["SET client_encoding = 'WIN1252'", leftOut],
    ["CREATE SUBSCRIPTION s CONNECTION 'host=x' PUBLICATION p", leftOut],
    ["LOAD 'pgoutput'", leftOut],
    [`SELECT 'a' < 'b' COLLATE "und-x-icu"`, { code: '22023', message: /could not open collator for locale "und"/ }],
    ["CREATE COLLATION c (provider = icu, locale = 'de-DE')", { code: '22023', message: /could not open collator/ }],
    ['CREATE DATABASE d', { code: '3D000', message: /"template1" does not exist/ }],
  ];
  for (const [sql, error] of touches) {
    await assert.rejects(db.exec(sql), error, sql);
    assert.equal(await value(db, 'SELECT 1'), 1, sql);
  }
  const text = await value(db, "SELECT pg_read_file('/pglite/share/postgresql/errcodes.txt', 0, 60)");
  assert.match(String(text), /^# left out of this copy of PGlite/);
  await db.close();
});

test('every library that was kept finds all functions that it calls', async () => {
  const { bundle, blanked } = await makeBundle();
  const main = new WebAssembly.Module(await readFile(packageFile('pglite.wasm')));
  const known = new Set(
    [...WebAssembly.Module.exports(main), ...WebAssembly.Module.imports(main)].map(({ name }) => name),
  );
  // Emscripten's glue has these itself.
  for (const name of ['setTempRet0', 'getTempRet0']) known.add(name);
  const kept = ['plpgsql', 'dict_snowball'];
  const libraries = blanked.filter(({ path }) => path.endsWith('.so'));
  assert.equal(libraries.length, 26);
  for (const { path, start, end } of await keptLibraries(blanked)) {
    const library = new WebAssembly.Module(bundle.slice(start, end));
    assert.ok(
      kept.some((name) => path.endsWith(`/${name}.so`)),
      path,
    );
    const missing = WebAssembly.Module.imports(library).filter(
      ({ kind, name }) => kind === 'function' && !name.startsWith('invoke_') && !known.has(name),
    );
    assert.deepEqual(missing, [], path);
  }
});

async function keptLibraries(
  blanked: readonly { path: string }[],
): Promise<{ path: string; start: number; end: number }[]> {
  const gone = new Set(blanked.map(({ path }) => path));
  return (await readFileTable()).filter(({ path }) => path.endsWith('.so') && !gone.has(path));
}

test('a full store is SQLSTATE 53100, and dropping a table makes room again', async () => {
  const { db, store } = await boot({ limitBytes: assets.store.usedBytes + 4_000_000, reserveBytes: 64_000_000 });
  await db.exec('CREATE TABLE big (x text); ALTER TABLE big ALTER x SET STORAGE plain');
  const fill = "INSERT INTO big SELECT repeat('x', 1000) FROM generate_series(1, 10000)";
  await assert.rejects(db.exec(fill), { code: '53100', message: /could not extend file .*: No space left on device/ });
  await assert.rejects(db.exec(fill), { code: '53100' });
  const full = store.usedBytes;
  await db.exec('DROP TABLE big');
  await db.exec('CHECKPOINT');
  assert.ok(store.usedBytes < full);
  await db.exec('CREATE TABLE small AS SELECT 1 AS x');
  assert.equal(await value(db, 'SELECT x FROM small'), 1);
  await db.close();
});

test('a closed session has released every file', async () => {
  const { db, store } = await boot();
  await db.exec('CREATE TABLE t AS SELECT generate_series(1, 1000)');
  await db.close();
  const image = store.clone();
  assert.equal(image.usedBytes, store.usedBytes, 'no unlinked file is still held');
});

const scratch: string[] = [];
after(() => Promise.all(scratch.map((directory) => rm(directory, { recursive: true, force: true }))));

test('made once when two ask at once; made anew when damaged or from another generator', async () => {
  const parent = await mkdtemp(`${tmpdir()}/assets-`);
  scratch.push(parent);
  const directory = pathToFileURL(`${parent}/engine/`);
  const [one, two] = await Promise.all([ensureAssets(directory), ensureAssets(directory)]);
  assert.equal(one.bundleSha256, two.bundleSha256);
  await loadAssets(directory);
  const manifest = await ensureAssets(directory);
  await writeFile(new URL('store.tar.gz', directory), 'cut');
  assert.notEqual((await ensureAssets(directory)).storeSha256, manifest.storeSha256);
  await writeFile(new URL('manifest.json', directory), JSON.stringify({ ...manifest, generator: 0 }));
  assert.equal((await ensureAssets(directory)).generator, manifest.generator);
});
