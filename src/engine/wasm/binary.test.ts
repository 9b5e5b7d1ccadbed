import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reader, concat, name, s32, section, u32, vector } from './binary.ts';

const read = <T>(bytes: readonly number[], how: (reader: Reader) => T): T => {
  const reader = new Reader(Uint8Array.from(bytes), 0);
  const value = how(reader);
  assert.equal(reader.at, bytes.length, 'all bytes are read');
  return value;
};

/** Around every power of two, and at random. */
const NUMBERS = [
  ...Array.from({ length: 32 }, (_, bit) => [-1, 0, 1].map((by) => 2 ** bit + by)).flat(),
  ...Array.from({ length: 1000 }, () => Math.floor(Math.random() * 2 ** 32)),
];

test('unsigned numbers survive the round trip', () => {
  for (const value of NUMBERS)
    assert.equal(
      read(u32(value >>> 0), (r) => r.u32()),
      value >>> 0,
    );
});

test('signed numbers survive the round trip', () => {
  for (const value of NUMBERS.flatMap((n) => [n | 0, -n | 0]))
    assert.equal(
      read(s32(value), (r) => r.s32()),
      value,
    );
});

test('numbers in bytes', () => {
  assert.deepEqual(u32(624485), [0xe5, 0x8e, 0x26]);
  assert.deepEqual(u32(0xffffffff), [0xff, 0xff, 0xff, 0xff, 0x0f]);
  assert.deepEqual(s32(-123456), [0xc0, 0xbb, 0x78]);
  assert.deepEqual(s32(-(2 ** 31)), [0x80, 0x80, 0x80, 0x80, 0x78]);
  assert.deepEqual([s32(63), s32(64), s32(-64), s32(-65)], [[0x3f], [0xc0, 0], [0x40], [0xbf, 0x7f]]);
});

test('numbers that are padded to five bytes, as linkers write them', () => {
  assert.equal(
    read([0x83, 0x80, 0x80, 0x80, 0x00], (r) => r.u32()),
    3,
  );
  assert.equal(
    read([0xfd, 0xff, 0xff, 0xff, 0x7f], (r) => r.s32()),
    -3,
  );
});

test('names, vectors and limits', () => {
  assert.equal(
    read(name('naïve €'), (r) => r.name()),
    'naïve €',
  );
  assert.deepEqual(
    read(vector([u32(1), u32(300)]), (r) => r.vector((r) => r.u32())),
    [1, 300],
  );
  assert.deepEqual(
    read([0, 5], (r) => r.limits()),
    { min: 5, max: undefined },
  );
  assert.deepEqual(
    read([1, 5, 200, 1], (r) => r.limits()),
    { min: 5, max: 200 },
  );
});

test('sections and concatenation', () => {
  assert.deepEqual(section(7, [1, 2, 3]), [7, 3, 1, 2, 3]);
  assert.deepEqual([...concat([Uint8Array.of(1), Uint8Array.of(), Uint8Array.of(2, 3)])], [1, 2, 3]);
});

test('a binary that ends too early says where', () => {
  assert.throws(() => read([0x80], (r) => r.u32()), { name: 'RangeError', message: /ends at byte 1/ });
});
