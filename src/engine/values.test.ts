/** Against node-postgres' own `prepareValue`. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { prepareValue } from './values.ts';

const { prepareValue: reference } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  prepareValue(value: unknown): unknown;
};

/** Small and seeded, so that a failure can be repeated (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TEXTS = ['', 'plain', '"quoted"', 'back\\slash', '{braces}', 'NULL', 'a,b', '€ 𝄞', ' ', "it's", '\n\t'];
const DATES = [0, -1, 1e12, 253402300799999, -62135596800000, -62198755200000, -1e14, 951782400123];
const NUMBERS = [0, -0, 1, -1.5, 1e21, 1e-7, NaN, Infinity, -Infinity, 2 ** 53, 0.1 + 0.2];

function randomValue(random: () => number, depth = 0): unknown {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const list = (): unknown[] => Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth + 1));
  const kinds: (() => unknown)[] = [
    () => pick([null, undefined, true, false]),
    () => pick(NUMBERS),
    () => BigInt(Math.floor(random() * 1e15)) * 1000003n,
    () => pick(TEXTS),
    () => new Date(pick(DATES) + Math.floor(random() * 1000)),
    () => Buffer.from(pick(TEXTS)),
    () => Uint8Array.from({ length: 3 }, () => random() * 256),
    () => new Uint16Array([random() * 65536, 1]).subarray(1),
    () => ({
      toPostgres: (prepare: (value: unknown) => unknown) => pick([prepare(pick(TEXTS)), pick(NUMBERS), [1, 'x']]),
    }),
    ...(depth < 3 ? [list, () => ({ a: list(), b: pick(TEXTS) })] : []),
  ];
  return pick(kinds)();
}

/** JSON takes no bigints, in either. */
function resultOf(prepare: (value: unknown) => unknown, value: unknown): unknown {
  try {
    const result = prepare(value);
    return result instanceof Uint8Array ? [...result] : result;
  } catch (error) {
    return (error as Error).name;
  }
}

test('values are prepared as node-postgres prepares them', () => {
  for (let seed = 1; seed <= 5000; seed++) {
    // `toPostgres` draws when it is called: the same value, made twice.
    const [mine, its] = [randomValue(randomOf(seed)), randomValue(randomOf(seed))];
    assert.deepEqual(resultOf(prepareValue, mine), resultOf(reference, its), `seed ${seed}`);
  }
});

test('what has no text form is refused', () => {
  assert.throws(() => prepareValue(() => 1), { code: 'BAD_ARGUMENT', message: /a function/ });
  assert.throws(() => prepareValue(Symbol('s')), { code: 'BAD_ARGUMENT', message: /a symbol/ });
});
