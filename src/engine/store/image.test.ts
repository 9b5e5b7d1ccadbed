import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Image } from './image.ts';
import { Store } from './store.ts';
import { readTar, writeTar } from './tar.ts';

function example(): Store {
  const store = new Store();
  store.mkdir('base/5', { recursive: true });
  store.mkdir('pg_notify');
  store.writeFile('base/5/112', new Uint8Array(100_000).fill(3), { mode: 0o640 });
  store.writeFile('PG_VERSION', new TextEncoder().encode('18\n'));
  store.writeFile('empty', new Uint8Array(0));
  return store;
}

test('an archive and back', () => {
  const tar = Image.of(example()).toTar();
  const store = Image.fromTar(tar).open();
  assert.deepEqual(store.readdir('').sort(), ['PG_VERSION', 'base', 'empty', 'pg_notify']);
  assert.deepEqual(store.readFile('base/5/112'), new Uint8Array(100_000).fill(3));
  assert.equal(store.stat('base/5/112').mode, 0o100640);
  assert.equal(store.usedBytes, example().usedBytes);
  assert.deepEqual(Image.of(store).toTar(), tar);
});

test('stores of one image do not see each other', () => {
  const tar = Image.of(example()).toTar();
  const before = tar.slice();
  const image = Image.fromTar(tar);
  const [one, two] = [image.open(), image.open()];
  const file = one.open('base/5/112');
  one.write(file, new Uint8Array(10).fill(9), 0, 10, 70_000);
  one.truncate(file, 80_000);
  one.unlink('PG_VERSION');
  assert.equal(two.readFile('base/5/112')[70_000], 3);
  assert.equal(two.stat('PG_VERSION').size, 3);
  assert.equal(image.open().stat('base/5/112').size, 100_000);
  assert.deepEqual(tar, before);
});

test('a damaged archive says where and what', () => {
  const tar = Image.of(example()).toTar();
  const entries = readTar(tar);
  const flipped = tar.slice();
  flipped[0] = 0x21;
  const fails = (bytes: Uint8Array, message: RegExp): void =>
    assert.throws(() => Image.fromTar(bytes), { name: 'EngineError', code: 'ASSETS_UNAVAILABLE', message });
  fails(flipped, /damaged at byte 0: the header's checksum is \d+, not \d+/);
  fails(tar.subarray(0, tar.length - 1024), /the end of the archive is missing/);
  fails(tar.subarray(0, 4096), /base\/5\/112 has 100000 bytes, but only \d+ are left/);
  fails(new TextEncoder().encode('<html>'.repeat(200)), /expected the magic "ustar"/);
  const odd = writeTar(entries);
  odd[156] = '2'.charCodeAt(0);
  odd.set(new TextEncoder().encode('0'), 148);
  fails(odd, /damaged at byte 0/);
});
