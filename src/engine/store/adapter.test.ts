/** Emscripten's file layer over a store that another session changes. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { loadAssets } from '../assets/node.ts';
import { SessionFilesystem } from './filesystem.ts';

const DATA = '/pglite/data';
const O_RDWR = 2;
const O_CREAT = 64;
const O_EXCL = 128;

/** The calls of Emscripten's `FS` that are made here. */
interface Files {
  open(path: string, flags: number, mode?: number): { readonly fd: number };
  close(stream: object): void;
  write(stream: object, bytes: Uint8Array, offset: number, length: number, position: number): number;
  read(stream: object, bytes: Uint8Array, offset: number, length: number, position: number): number;
  stat(path: string): { readonly size: number };
  fstat(fd: number): { readonly size: number };
  ftruncate(fd: number, size: number): void;
  mkdir(path: string): void;
  rmdir(path: string): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
}

let one: Files;
let two: Files;

before(async () => {
  const assets = await loadAssets();
  const store = assets.store.open();
  const boot = async (): Promise<Files> => {
    const db = await PGlite.create({ fs: new SessionFilesystem(store), noInitDb: true });
    return db.Module.FS as unknown as Files;
  };
  // Only the file layer: two unrelated servers over one directory would ruin each other's data.
  one = await boot();
  two = await boot();
});

function put(files: Files, path: string, text: string): void {
  const stream = files.open(path, O_RDWR | O_CREAT, 0o600);
  const bytes = new TextEncoder().encode(text);
  files.write(stream, bytes, 0, bytes.length, 0);
  files.close(stream);
}

function get(files: Files, stream: { readonly fd: number }): string {
  const bytes = new Uint8Array(files.fstat(stream.fd).size);
  files.read(stream, bytes, 0, bytes.length, 0);
  return new TextDecoder().decode(bytes);
}

test('a name that the other session unlinked is free again', () => {
  const path = `${DATA}/base/x`;
  put(one, path, 'one');
  assert.equal(two.stat(path).size, 3);
  one.unlink(path);
  assert.throws(() => two.stat(path), { errno: 44 });
  two.close(two.open(path, O_RDWR | O_CREAT | O_EXCL, 0o600));
  two.unlink(path);
  put(one, path, 'again');
  assert.equal(two.stat(path).size, 5);
  two.unlink(path);
});

test('a name may come back as something else', () => {
  const path = `${DATA}/base/y`;
  one.mkdir(path);
  put(two, `${path}/z`, 'z');
  two.unlink(`${path}/z`);
  two.rmdir(path);
  put(two, path, 'a file');
  const stream = one.open(path, O_RDWR);
  assert.equal(get(one, stream), 'a file');
  one.close(stream);
  one.unlink(path);
});

test('an open file is itself, whatever happens to its name', () => {
  const path = `${DATA}/base/w`;
  put(one, path, 'first');
  const stream = one.open(path, O_RDWR);
  put(two, `${path}.tmp`, 'second one');
  two.rename(`${path}.tmp`, path);
  assert.equal(get(one, stream), 'first');
  assert.equal(one.stat(path).size, 10);
  two.unlink(path);
  one.ftruncate(stream.fd, 2);
  assert.equal(get(one, stream), 'fi');
  one.close(stream);
});
