import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRNO_CODES } from '@electric-sql/pglite/basefs';
import { ERRNO, type ErrnoName } from './errno.ts';
import { Store } from './store.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const failsWith = (errno: ErrnoName): { name: string; code: number } => ({ name: 'StoreError', code: ERRNO[errno] });

function readAll(store: Store, file: ReturnType<Store['open']>): string {
  const bytes = new Uint8Array(store.fstat(file).size);
  store.read(file, bytes, 0, bytes.length, 0);
  return new TextDecoder().decode(bytes);
}

test('the error numbers are those of PGlite', () => {
  const theirs: Partial<Record<string, number>> = ERRNO_CODES;
  for (const [name, code] of Object.entries(ERRNO)) assert.equal(theirs[name] ?? code, code, name);
});

test('rename over a file: its name is the new file, who has it open keeps the old', () => {
  const store = new Store();
  store.writeFile('a', text('old'));
  store.writeFile('b', text('new'));
  const open = store.open('a');
  store.rename('b', 'a');
  assert.equal(readAll(store, open), 'old');
  assert.equal(new TextDecoder().decode(store.readFile('a')), 'new');
  assert.throws(() => store.stat('b'), failsWith('ENOENT'));
  assert.equal(store.usedBytes, 2 * 8192);
  store.release(open);
  assert.equal(store.usedBytes, 8192);
});

test('unlink while open: bytes live until the last handle is released', () => {
  const store = new Store();
  store.writeFile('f', text('kept'));
  const [one, two] = [store.open('f'), store.open('f')];
  store.unlink('f');
  store.write(one, text('KE'), 0, 2, 0);
  store.release(one);
  assert.equal(readAll(store, two), 'KEpt');
  store.release(two);
  assert.equal(store.usedBytes, 0);
  store.writeFile('f', text('another'));
  assert.equal(store.stat('f').size, 7);
});

test('a sparse write reads zeros before it', () => {
  const store = new Store();
  const file = store.open('f', { create: true });
  store.write(file, text('end'), 0, 3, 200_000);
  const bytes = new Uint8Array(200_003).fill(9);
  assert.equal(store.read(file, bytes, 0, bytes.length, 0), 200_003);
  assert.ok(bytes.subarray(0, 200_000).every((byte) => byte === 0));
  assert.equal(new TextDecoder().decode(bytes.subarray(200_000)), 'end');
  assert.equal(store.read(file, bytes, 0, 10, 200_003), 0);
});

test('truncate down gives bytes back, and up again reads zeros', () => {
  const store = new Store();
  store.writeFile('f', new Uint8Array(300_000).fill(5));
  const file = store.open('f');
  store.truncate(file, 100);
  assert.equal(store.usedBytes, 8192);
  store.truncate(file, 70_000);
  const bytes = store.readFile('f');
  assert.ok(bytes.every((byte, i) => byte === (i < 100 ? 5 : 0)));
});

test('a full store refuses to grow, changes nothing, and recovers after a delete', () => {
  const store = new Store({ limitBytes: 10 * 8192 });
  store.mkdir('base');
  store.writeFile('base/1', new Uint8Array(8 * 8192).fill(1));
  const file = store.open('base/2', { create: true });
  store.write(file, new Uint8Array(2 * 8192).fill(2), 0, 2 * 8192, 0);
  assert.throws(() => store.write(file, text('x'), 0, 1, 2 * 8192), failsWith('ENOSPC'));
  assert.throws(() => store.truncate(file, 3 * 8192), failsWith('ENOSPC'));
  assert.equal(store.fstat(file).size, 2 * 8192);
  store.write(file, text('within'), 0, 6, 100);
  store.unlink('base/1');
  store.write(file, text('x'), 0, 1, 2 * 8192);
  assert.equal(store.usedBytes, 3 * 8192);
});

test('the reserve is for files outside base/', () => {
  const store = new Store({ limitBytes: 8192, reserveBytes: 8192 });
  store.mkdir('base');
  store.mkdir('pg_wal');
  store.writeFile('base/1', text('x'));
  assert.throws(() => store.writeFile('base/2', text('x')), failsWith('ENOSPC'));
  store.writeFile('pg_wal/1', text('x'));
  assert.throws(() => store.writeFile('pg_wal/2', text('x')), failsWith('ENOSPC'));
});

test('directories: mkdir, readdir, rmdir and their errors', () => {
  const store = new Store();
  store.mkdir('a/b/c', { recursive: true });
  store.mkdir('a/b', { recursive: true });
  store.writeFile('a/f', text('x'));
  assert.deepEqual(store.readdir('/a/').sort(), ['b', 'f']);
  assert.throws(() => store.mkdir('a'), failsWith('EEXIST'));
  assert.throws(() => store.mkdir('x/y'), failsWith('ENOENT'));
  assert.throws(() => store.rmdir('a/b'), failsWith('ENOTEMPTY'));
  assert.throws(() => store.rmdir('a/f'), failsWith('ENOTDIR'));
  assert.throws(() => store.readdir('a/f'), failsWith('ENOTDIR'));
  assert.throws(() => store.unlink('a/b'), failsWith('EISDIR'));
  assert.throws(() => store.stat('a/f/x'), failsWith('ENOTDIR'));
  assert.throws(() => store.rename('a', 'a/b/d'), failsWith('EINVAL'));
  assert.throws(() => store.rename('a/f', 'a/b'), failsWith('EISDIR'));
  store.rename('a/b', 'moved');
  assert.deepEqual(store.readdir('moved'), ['c']);
  store.rmdir('moved/c');
  store.rmdir('moved');
});

test('stat: size, distinct inode numbers, times of the given clock', () => {
  let now = 1000;
  const store = new Store({ now: () => now });
  store.writeFile('a', text('abc'), { mode: 0o640 });
  now = 2000;
  store.writeFile('b', text(''));
  const [a, b] = [store.stat('a'), store.stat('b')];
  assert.deepEqual([a.size, a.mode, a.mtime, a.blocks], [3, 0o100640, 1000, 16]);
  assert.equal(b.mtime, 2000);
  assert.notEqual(a.ino, b.ino);
  store.chmod('a', 0o600);
  store.utimes('a', 5);
  assert.deepEqual([store.stat('a').mode, store.stat('a').mtime], [0o100600, 5]);
});

test('a file of more than 2 GB is refused, not mangled', () => {
  const store = new Store();
  const file = store.open('f', { create: true });
  assert.throws(() => store.write(file, text('x'), 0, 1, 2 ** 31), failsWith('EFBIG'));
});
