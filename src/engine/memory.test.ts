import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinearMemory } from './memory.ts';

function grownOnce(): { memory: LinearMemory; grow: () => void } {
  const wasm = new WebAssembly.Memory({ initial: 1, maximum: 3 });
  return { memory: new LinearMemory(wasm), grow: () => void wasm.grow(1) };
}

test('words and bytes share the memory', () => {
  const { memory } = grownOnce();
  memory.setWord(8, -2);
  assert.equal(memory.getWord(8), -2);
  assert.deepEqual([...memory.bytes.subarray(8, 12)], [254, 255, 255, 255]);
  memory.setByte(8, 1);
  assert.equal(memory.getWord(8), -255);
});

test('views follow memory that has grown', () => {
  const { memory, grow } = grownOnce();
  const [bytes, words] = [memory.bytes, memory.words];
  assert.equal(memory.bytes, bytes, 'made once');
  memory.setWord(4, 7);
  grow();
  assert.equal(bytes.length, 0, 'the old views are detached');
  assert.equal(words.length, 0);
  assert.equal(memory.getWord(4), 7);
  memory.setWord(65_536 + 4, 9);
  assert.equal(memory.bytes.length, 2 * 65_536);
  assert.equal(memory.getWord(65_536 + 4), 9);
});

test('text ends at its zero byte', () => {
  const { memory } = grownOnce();
  memory.bytes.set(new TextEncoder().encode('päth\0rest'), 100);
  assert.equal(memory.cString(100), 'päth');
  assert.equal(memory.cString(99), '');
});

test('an address out of range reads as zero', () => {
  const { memory } = grownOnce();
  assert.equal(memory.getWord(1 << 20), 0);
});
