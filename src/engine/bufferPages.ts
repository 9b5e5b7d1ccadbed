/**
 * Which pages of Postgres' buffer cache a backend lacks. The cache is a third of
 * shared memory in use, and a statement changes a few of its pages.
 *
 * Whoever changes a page sets BM_JUST_DIRTIED (MarkBufferDirty and
 * MarkBufferDirtyHint); it serves to notice changes while a page is written,
 * which takes no turn, so between turns it is ours to clear. A buffer that was
 * given another page has another tag. And a page that came back anew under its
 * old tag differs in its header (its LSN).
 */
import type { LinearMemory } from './memory.ts';
import type { Range } from './sharedIndex.ts';

/** BufferDesc in storage/buf_internals.h: its size, and offsets. The tag comes first. */
const DESCRIPTOR_BYTES = 64;
const FIELD = { id: 20, state: 24 } as const;
const TAG_WORDS = 5;
const BM_JUST_DIRTIED = 1 << 28;
const PAGE_BYTES = 8192;
/** PageHeaderData, and the word behind it: fp_next_slot, a hint that a free space map changes unmarked. */
const HEADER_WORDS = 7;
const KNOWN_WORDS = TAG_WORDS + HEADER_WORDS;

export interface BufferLayout {
  readonly descriptors: Range;
  readonly blocks: Range;
}

/** @throws Error when the descriptors do not look like such, for a build other than the pinned one. */
export function checkBuffers(memory: LinearMemory, { descriptors, blocks }: BufferLayout): void {
  const count = descriptors.size / DESCRIPTOR_BYTES;
  const isOne = (id: number): boolean => memory.getWord(descriptors.start + id * DESCRIPTOR_BYTES + FIELD.id) === id;
  if (blocks.size < count * PAGE_BYTES || !Array.from({ length: count }, (_, id) => isOne(id)).every(Boolean)) {
    throw new Error(`buffers that are laid out differently (${descriptors.size} bytes for ${blocks.size})`);
  }
}

export class BufferPages {
  readonly #descriptors: number;
  readonly #pages: number;
  readonly #count: number;
  /** Tag and header of each page when it was last looked at. */
  readonly #known: Int32Array;
  /** When each page was last found changed, by the count of looks. */
  readonly #changedAt: Int32Array;
  readonly #seenBy = new WeakMap<object, number>();
  #looks = 0;

  constructor({ descriptors, blocks }: BufferLayout) {
    this.#descriptors = descriptors.start;
    // BufferManagerShmemInit() aligns the first page for direct I/O.
    this.#pages = Math.ceil(blocks.start / 4096) * 4096;
    this.#count = descriptors.size / DESCRIPTOR_BYTES;
    this.#known = new Int32Array(this.#count * KNOWN_WORDS);
    this.#changedAt = new Int32Array(this.#count);
  }

  /** Notes what the holder of shared memory has changed since the last look. */
  look({ words }: LinearMemory): void {
    this.#looks += 1;
    for (let id = 0; id < this.#count; id++) {
      const descriptor = (this.#descriptors + id * DESCRIPTOR_BYTES) >>> 2;
      const page = (this.#pages + id * PAGE_BYTES) >>> 2;
      const isOther = this.#learn(words, descriptor, id * KNOWN_WORDS, TAG_WORDS);
      const isNew = this.#learn(words, page, id * KNOWN_WORDS + TAG_WORDS, HEADER_WORDS);
      const state = descriptor + (FIELD.state >>> 2);
      const flags = words[state] ?? 0;
      if ((flags & BM_JUST_DIRTIED) !== 0) words[state] = flags & ~BM_JUST_DIRTIED;
      else if (!isOther && !isNew) continue;
      this.#changedAt[id] = this.#looks;
    }
  }

  /** Pages that `backend` lacks, adjacent ones as one range. */
  lackedBy(backend: object): Range[] {
    const seen = this.#seenBy.get(backend) ?? -1;
    const ranges: Range[] = [];
    for (let id = 0; id < this.#count; id++) {
      if ((this.#changedAt[id] ?? 0) <= seen) continue;
      const start = this.#pages + id * PAGE_BYTES;
      const last = ranges.at(-1);
      if (last !== undefined && last.start + last.size === start)
        ranges[ranges.length - 1] = { start: last.start, size: last.size + PAGE_BYTES };
      else ranges.push({ start, size: PAGE_BYTES });
    }
    return ranges;
  }

  /** From now on `backend` has everything up to the last look. */
  given(backend: object): void {
    this.#seenBy.set(backend, this.#looks);
  }

  /** Whether words differ from what is known of them, which they then are. */
  #learn(words: Int32Array, from: number, known: number, count: number): boolean {
    let differs = false;
    for (let index = 0; index < count; index++) {
      const word = words[from + index] ?? 0;
      if (this.#known[known + index] === word) continue;
      this.#known[known + index] = word;
      differs = true;
    }
    return differs;
  }
}
