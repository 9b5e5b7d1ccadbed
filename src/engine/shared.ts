/**
 * The shared memory of a cluster: where it lies in every instance, and who has
 * the newest copy of it.
 *
 * A Postgres cluster shares one block of memory between processes. Here every
 * backend has a copy at the same address, and exactly one of them, the holder of
 * the baton, is current: whoever runs next first gets what is in use of it
 * copied from the holder. Postgres never waits while it holds a spinlock or an
 * LWLock, so a copy taken between two turns is consistent.
 */
import { BufferPages, checkBuffers, type BufferLayout } from './bufferPages.ts';
import type { LinearMemory } from './memory.ts';
import { endOfUse, findBlock, findStruct, type Range } from './sharedIndex.ts';
import { SLRU_NAMES, checkSlru, emptyPages } from './slru.ts';

export type { Range } from './sharedIndex.ts';

/** Where shared memory lies. The same in every backend, or the cluster refuses to go on. */
export interface SharedLayout {
  /** The main block: from its PGShmemHeader on. */
  readonly block: Range;
  /** The control segment of dynamic shared memory. */
  readonly control: Range;
  /** Parts of the block that every backend keeps to itself after it has joined. */
  readonly kept: readonly Range[];
  /** Caches of which only pages in use are copied. */
  readonly slrus: readonly Range[];
  /** The buffer cache, of which only changed pages are copied. */
  readonly buffers: BufferLayout;
}

/**
 * Allocations that need not be current. Cumulative statistics, the one user of
 * dynamic shared memory here, live in their own area and in a dynamic segment:
 * together with the control segment they are whole in every backend, so each
 * counts for itself (`track_counts` is off: there is little to count). Commit
 * timestamps are off, too.
 */
const KEPT = ['Preallocated DSM', 'Shared Memory Stats', 'commit_timestamp'];

/** @throws Error that says what was not found, for a build other than the pinned one. */
export function findShared(memory: LinearMemory, lwLockArray: number, control: Range): SharedLayout {
  const block = findBlock(memory, lwLockArray);
  const find = (name: string): Range => findStruct(memory, block, name);
  const buffers = { descriptors: find('Buffer Descriptors'), blocks: find('Buffer Blocks') };
  checkBuffers(memory, buffers);
  const slrus = SLRU_NAMES.map((name) => {
    const cache = find(name);
    checkSlru(memory, name, cache);
    return cache;
  });
  return { block, control, kept: KEPT.map(find), slrus, buffers };
}

/** All of shared memory that is in use: what a backend that joins has to have. */
function everything(memory: LinearMemory, { block, control }: SharedLayout): Range[] {
  return [{ start: block.start, size: endOfUse(memory, block) - block.start }, control];
}

/** What has to be copied from `memory` so that another backend is current, but for the pages of the buffer cache. */
export function rangesInUse(memory: LinearMemory, { block, kept, slrus, buffers }: SharedLayout): Range[] {
  const empty = slrus.flatMap((cache) => emptyPages(memory, cache));
  const left = [...kept, ...empty, buffers.blocks].sort((a, b) => a.start - b.start);
  const ranges: Range[] = [];
  let start = block.start;
  for (const range of [...left, { start: endOfUse(memory, block), size: 0 }]) {
    if (range.start > start) ranges.push({ start, size: range.start - start });
    start = range.start + range.size;
  }
  return ranges;
}

/** Says how a backend's layout differs from its cluster's, or undefined if it does not. */
export function describeDifference(expected: SharedLayout, found: SharedLayout): string | undefined {
  const show = ({ block, control, kept, slrus, buffers }: SharedLayout): string =>
    [block, control, ...kept, ...slrus, buffers.descriptors, buffers.blocks]
      .map((range) => `${range.size} bytes at ${range.start}`)
      .join(', ');
  return show(expected) === show(found) ? undefined : `shared memory of ${show(found)} instead of ${show(expected)}`;
}

/** A backend, as far as shared memory is concerned. */
export interface Holder {
  readonly memory: LinearMemory;
}

/** Passes the newest copy of shared memory from hand to hand. */
export class Baton {
  #layout: SharedLayout | undefined;
  #pages: BufferPages | undefined;
  #holder: Holder | undefined;
  /** Copies made so far, and their bytes: what `npm run bench` reports. */
  readonly copied = { times: 0, bytes: 0 };

  get layout(): SharedLayout | undefined {
    return this.#layout;
  }

  get holder(): Holder | undefined {
    return this.#holder;
  }

  /** The first backend makes shared memory and is its first holder. */
  found(layout: SharedLayout, leader: Holder): void {
    this.#layout = layout;
    this.#pages = new BufferPages(layout.buffers);
    this.#holder = leader;
  }

  /** Gives a backend that joins all of shared memory, in place of the fresh one that it has made. */
  join(follower: Holder): void {
    this.#pass(follower, (memory, layout) => everything(memory, layout));
  }

  /** Makes `to` the holder. Copies nothing when it already is. */
  take(to: Holder): void {
    this.#pass(to, (memory, layout, pages) => [...rangesInUse(memory, layout), ...pages.lackedBy(to)]);
  }

  #pass(to: Holder, select: (memory: LinearMemory, layout: SharedLayout, pages: BufferPages) => Range[]): void {
    const [from, layout, pages] = [this.#holder, this.#layout, this.#pages];
    if (from === to || from === undefined || layout === undefined || pages === undefined) return;
    pages.look(from.memory);
    this.#copy(from, to, select(from.memory, layout, pages));
    pages.given(from);
    pages.given(to);
    this.#holder = to;
  }

  #copy(from: Holder, to: Holder, ranges: readonly Range[]): void {
    const [source, target] = [from.memory.bytes, to.memory.bytes];
    for (const { start, size } of ranges) {
      target.set(source.subarray(start, start + size), start);
      this.copied.bytes += size;
    }
    this.copied.times += 1;
  }
}
