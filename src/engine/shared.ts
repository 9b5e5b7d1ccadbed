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
  /** The part of the block that dynamic shared memory takes (`min_dynamic_shared_memory`). */
  readonly preallocated: Range;
}

/** `PGShmemMagic` in storage/pg_shmem.h. */
const SHMEM_MAGIC = 679834894;
/** Words of PGShmemHeader. */
const HEADER = { totalSize: 2, freeOffset: 3 } as const;
/** `dsm_control_header.nitems` in storage/ipc/dsm.c, in bytes. */
const CONTROL_ITEMS = 4;
/** ShmemIndexEnt in storage/shmem.h: a key of 48 bytes, then location and size. */
const INDEX_KEY_BYTES = 48;
const PREALLOCATED = 'Preallocated DSM';

/** @throws Error that says what was not found, for a build other than the pinned one. */
export function findShared(memory: LinearMemory, lwLockArray: number, control: Range): SharedLayout {
  const block = findBlock(memory, lwLockArray);
  return { block, control, preallocated: findStruct(memory, block, PREALLOCATED) };
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
  const end = block.start + usedBytes(memory, block) - key.length;
  for (let at = bytes.indexOf(key[0] ?? 0, block.start); at !== -1 && at < end; at = bytes.indexOf(key[0] ?? 0, at + 1)) {
    if (key.some((byte, offset) => bytes[at + offset] !== byte)) continue;
    const [start, size] = [memory.getWord(at + INDEX_KEY_BYTES), memory.getWord(at + INDEX_KEY_BYTES + 4)];
    if (start > block.start && start + size <= block.start + block.size) return { start, size };
  }
  throw new Error(`no entry '${wanted}' in ShmemIndex`);
}

function usedBytes(memory: LinearMemory, block: Range): number {
  return memory.words[(block.start >>> 2) + HEADER.freeOffset] ?? 0;
}

/**
 * What has to be copied from `memory` so that another backend is current. The
 * preallocated part stays out as long as no dynamic segment was ever made
 * (cumulative statistics are the only user, and `track_counts` is off).
 */
export function rangesInUse(memory: LinearMemory, { block, control, preallocated }: SharedLayout): Range[] {
  const end = block.start + usedBytes(memory, block);
  if (memory.getWord(control.start + CONTROL_ITEMS) !== 0) return [{ start: block.start, size: end - block.start }, control];
  const after = preallocated.start + preallocated.size;
  return [
    { start: block.start, size: preallocated.start - block.start },
    { start: after, size: end - after },
    control,
  ];
}

/** Says how a backend's layout differs from its cluster's, or undefined if it does not. */
export function describeDifference(expected: SharedLayout, found: SharedLayout): string | undefined {
  const show = ({ block, control, preallocated }: SharedLayout): string =>
    [block, control, preallocated].map((range) => `${range.size} bytes at ${range.start}`).join(', ');
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

  /** Makes `to` the holder. Copies nothing when it already is. */
  take(to: Holder): void {
    const from = this.#holder;
    if (from === to || from === undefined || this.#layout === undefined) return;
    const [source, target] = [from.memory.bytes, to.memory.bytes];
    for (const { start, size } of rangesInUse(from.memory, this.#layout)) {
      target.set(source.subarray(start, start + size), start);
      this.copied.bytes += size;
    }
    this.copied.times += 1;
    this.#holder = to;
  }
}
