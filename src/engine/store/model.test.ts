/** Random operations on a store and on a plain model of it, side by side. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from './errno.ts';
import { Store } from './store.ts';
import type { FileNode } from './tree.ts';

const NAMES = ['a', 'b', 'c', 'd/a', 'd/b', 'e/a'] as const;
const MAX_SIZE = 200_000;

/** A file of the model: all bytes in one array, shared by name and handles. */
interface ModelFile {
  bytes: Uint8Array;
}

interface Handle {
  readonly file: FileNode;
  readonly model: ModelFile;
}

/** mulberry32: integers below `n` from a seed. */
function createRandom(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

class World {
  readonly store: Store;
  readonly files: Map<string, ModelFile>;
  handles: Handle[] = [];
  readonly #random: (n: number) => number;

  constructor(random: (n: number) => number, store = new Store(), files = new Map<string, ModelFile>()) {
    this.#random = random;
    this.store = store;
    this.files = files;
  }

  /** The same world over a clone of its store; neither may see the other's changes. */
  fork(): World {
    const files = new Map([...this.files].map(([name, { bytes }]) => [name, { bytes: bytes.slice() }]));
    return new World(this.#random, this.store.clone(), files);
  }

  step(): void {
    const actions = [
      this.#open,
      this.#write,
      this.#write,
      this.#read,
      this.#truncate,
      this.#close,
      this.#unlink,
      this.#rename,
      this.#replace,
    ];
    actions[this.#random(actions.length)]?.call(this);
  }

  #name(): string {
    return NAMES[this.#random(NAMES.length)] ?? 'a';
  }

  /** Half of the time near a chunk's or page's edge, where mistakes live. */
  #position(): number {
    const edge = (this.#random(4) * 65536 + this.#random(3) * 8192 + this.#random(5) - 2 + MAX_SIZE) % MAX_SIZE;
    return this.#random(2) === 0 ? edge : this.#random(MAX_SIZE);
  }

  #content(): Uint8Array {
    const size = this.#random(2) === 0 ? 8192 : this.#random(30_000);
    return new Uint8Array(size).fill(1 + this.#random(255));
  }

  #handle(): Handle | undefined {
    return this.handles[this.#random(this.handles.length)];
  }

  #open(): void {
    const name = this.#name();
    if (this.handles.length > 8) return;
    if (!this.files.has(name)) this.files.set(name, { bytes: new Uint8Array(0) });
    const model = this.files.get(name);
    if (model !== undefined) this.handles.push({ file: this.store.open(name, { create: true }), model });
  }

  #close(): void {
    const handle = this.#handle();
    if (handle === undefined) return;
    this.handles = this.handles.filter((each) => each !== handle);
    this.store.release(handle.file);
  }

  #write(): void {
    const handle = this.#handle();
    if (handle === undefined) return;
    const [content, at] = [this.#content(), this.#position()];
    this.store.write(handle.file, content, 0, content.length, at);
    if (content.length === 0) return;
    handle.model.bytes = resized(handle.model.bytes, Math.max(handle.model.bytes.length, at + content.length));
    handle.model.bytes.set(content, at);
  }

  #read(): void {
    const handle = this.#handle();
    if (handle === undefined) return;
    const [length, at] = [this.#random(20_000), this.#position()];
    const target = new Uint8Array(length + 2).fill(7);
    const count = this.store.read(handle.file, target, 1, length, at);
    const expected = handle.model.bytes.subarray(at, at + length);
    assert.equal(count, expected.length);
    assert.ok(Buffer.from(target.subarray(1, 1 + count)).equals(expected));
    assert.equal(target[1 + count], 7, 'nothing is written behind what was read');
  }

  #truncate(): void {
    const handle = this.#handle();
    if (handle === undefined) return;
    const size = this.#position();
    this.store.truncate(handle.file, size);
    handle.model.bytes = resized(handle.model.bytes, size);
  }

  #unlink(): void {
    const name = this.#name();
    if (this.files.delete(name)) this.store.unlink(name);
    else assert.throws(() => this.store.unlink(name), StoreError);
  }

  #rename(): void {
    const [from, to] = [this.#name(), this.#name()];
    const model = this.files.get(from);
    if (model === undefined) return assert.throws(() => this.store.rename(from, to), StoreError);
    this.store.rename(from, to);
    this.files.delete(from);
    this.files.set(to, model);
  }

  #replace(): void {
    const [name, content] = [this.#name(), this.#content()];
    this.store.writeFile(name, content);
    const model = this.files.get(name);
    if (model === undefined) this.files.set(name, { bytes: content });
    else model.bytes = content;
  }

  check(): void {
    for (const name of NAMES) {
      const model = this.files.get(name);
      if (model === undefined) assert.throws(() => this.store.stat(name), StoreError);
      else assert.ok(Buffer.from(this.store.readFile(name)).equals(model.bytes), name);
    }
    const alive = new Set([...this.files.values(), ...this.handles.map((handle) => handle.model)]);
    const used = [...alive].reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / 8192) * 8192, 0);
    assert.equal(this.store.usedBytes, used);
  }
}

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const copy = new Uint8Array(size);
  copy.set(bytes.subarray(0, size));
  return copy;
}

for (const seed of [1, 2, 3, 4]) {
  test(`a store does what its model does, seed ${seed}`, () => {
    const random = createRandom(seed);
    const first = new World(random);
    first.store.mkdir('d');
    first.store.mkdir('e');
    let worlds = [first];
    for (let i = 0; i < 3000; i++) {
      // Often, as are the checks: a chunk written in place must not be replaced before anyone looks.
      if (i % 100 === 50) worlds = [...worlds.slice(-2), (worlds[random(worlds.length)] ?? first).fork()];
      worlds[random(worlds.length)]?.step();
      if (i % 5 === 0) for (const world of worlds) world.check();
    }
    for (const world of worlds) world.check();
  });
}
