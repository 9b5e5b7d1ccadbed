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
import type { LinearMemory } from './memory.ts';

export interface Range {
  readonly start: number;
  readonly size: number;
}

/** Where shared memory lies. The same in every backend, or the cluster refuses to go on. */
export interface SharedLayout {
  /** The main block: from its PGShmemHeader on. */
  readonly block: Range;
  /** The control segment of dynamic shared memory. */
  readonly control: Range;
  /** Parts of the block that every backend keeps to itself after it has joined, by address. */
  readonly kept: readonly Range[];
}

/**
 * Allocations that need not be current. Cumulative statistics, the one user of
 * dynamic shared memory here, live in their own area and in a dynamic segment:
 * together with the control segment they are whole in every backend, so each
 * counts for itself (`track_counts` is off: there is little to count). Commit
 * timestamps are off, too.
 */
const KEPT = ['Preallocated DSM', 'Shared Memory Stats', 'commit_timestamp'];

/** `PGShmemMagic` in storage/pg_shmem.h. */
const SHMEM_MAGIC = 679834894;
/** Words of PGShmemHeader. */
const HEADER = { totalSize: 2, freeOffset: 3 } as const;
/** ShmemIndexEnt in storage/shmem.h: a key of 48 bytes, then location and size. */
const INDEX_KEY_BYTES = 48;

/** @throws Error that says what was not found, for a build other than the pinned one. */
export function findShared(memory: LinearMemory, lwLockArray: number, control: Range): SharedLayout {
  const block = findBlock(memory, lwLockArray);
  const kept = KEPT.map((name) => findStruct(memory, block, name)).sort((a, b) => a.start - b.start);
  return { block, control, kept };
}

/** The block begins with its header, below the LWLocks that lie in it. */
function findBlock(memory: LinearMemory, lwLockArray: number): Range {
  const { words } = memory;
  for (let index = lwLockArray >>> 2; index > 0; index--) {
    if (words[index] !== SHMEM_MAGIC) continue;
    const size = words[index + HEADER.totalSize] ?? 0;
    if (index * 4 + size > lwLockArray && size < 64 << 20) return { start: index * 4, size };
  }
  throw new Error(`no PGShmemHeader (magic ${SHMEM_MAGIC}) below MainLWLockArray at ${lwLockArray}`);
}

/** Finds a named allocation through its entry in ShmemIndex, which lies in the block, too. */
function findStruct(memory: LinearMemory, block: Range, wanted: string): Range {
  const { bytes } = memory;
  const key = new TextEncoder().encode(`${wanted}\0`);
  const first = key[0] ?? 0;
  const end = endOfUse(memory, block) - key.length;
  for (let at = bytes.indexOf(first, block.start); at !== -1 && at < end; at = bytes.indexOf(first, at + 1)) {
    if (key.some((byte, offset) => bytes[at + offset] !== byte)) continue;
    const [start, size] = [memory.getWord(at + INDEX_KEY_BYTES), memory.getWord(at + INDEX_KEY_BYTES + 4)];
    if (start > block.start && start + size <= block.start + block.size) return { start, size };
  }
  throw new Error(`no entry '${wanted}' in ShmemIndex`);
}

/** Shared memory is given out from the start of the block; `freeoffset` grows. */
function endOfUse(memory: LinearMemory, block: Range): number {
  return block.start + memory.getWord(block.start + 4 * HEADER.freeOffset);
}

/** All of shared memory that is in use: what a backend that joins has to have. */
function everything(memory: LinearMemory, { block, control }: SharedLayout): Range[] {
  return [{ start: block.start, size: endOfUse(memory, block) - block.start }, control];
}

/** What has to be copied from `memory` so that another backend is current. */
export function rangesInUse(memory: LinearMemory, { block, kept }: SharedLayout): Range[] {
  const ranges: Range[] = [];
  let start = block.start;
  for (const range of [...kept, { start: endOfUse(memory, block), size: 0 }]) {
    ranges.push({ start, size: range.start - start });
    start = range.start + range.size;
  }
  return ranges;
}

/** Says how a backend's layout differs from its cluster's, or undefined if it does not. */
export function describeDifference(expected: SharedLayout, found: SharedLayout): string | undefined {
  const show = ({ block, control, kept }: SharedLayout): string =>
    [block, control, ...kept].map((range) => `${range.size} bytes at ${range.start}`).join(', ');
  return show(expected) === show(found) ? undefined : `shared memory of ${show(found)} instead of ${show(expected)}`;
}

/** A backend, as far as shared memory is concerned. */
export interface Holder {
  readonly memory: LinearMemory;
}

/** Passes the newest copy of shared memory from hand to hand. */
export class Baton {
  #layout: SharedLayout | undefined;
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
    this.#holder = leader;
  }

  /** Gives a backend that joins all of shared memory, in place of the fresh one that it has made. */
  join(follower: Holder): void {
    if (this.#layout !== undefined) this.#pass(follower, everything);
  }

  /** Makes `to` the holder. Copies nothing when it already is. */
  take(to: Holder): void {
    if (this.#layout !== undefined) this.#pass(to, rangesInUse);
  }

  #pass(to: Holder, select: typeof rangesInUse): void {
    const from = this.#holder;
    if (from === to || from === undefined || this.#layout === undefined) return;
    const [source, target] = [from.memory.bytes, to.memory.bytes];
    for (const { start, size } of select(from.memory, this.#layout)) {
      target.set(source.subarray(start, start + size), start);
      this.copied.bytes += size;
    }
    this.copied.times += 1;
    this.#holder = to;
  }
}
