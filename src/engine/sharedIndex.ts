/** Where things lie in Postgres' block of shared memory, by its own index. */
import type { LinearMemory } from './memory.ts';

export interface Range {
  readonly start: number;
  readonly size: number;
}

/** `PGShmemMagic` in storage/pg_shmem.h. */
const SHMEM_MAGIC = 679834894;
/** Words of PGShmemHeader. */
const HEADER = { totalSize: 2, freeOffset: 3 } as const;
/** ShmemIndexEnt in storage/shmem.h: a key of 48 bytes, then location and size. */
const INDEX_KEY_BYTES = 48;

/**
 * The block begins with its header, below the LWLocks that lie in it.
 *
 * @throws Error that says what was not found, for a build other than the pinned one.
 */
export function findBlock(memory: LinearMemory, lwLockArray: number): Range {
  const { words } = memory;
  for (let index = lwLockArray >>> 2; index > 0; index--) {
    if (words[index] !== SHMEM_MAGIC) continue;
    const size = words[index + HEADER.totalSize] ?? 0;
    if (index * 4 + size > lwLockArray && size < 64 << 20) return { start: index * 4, size };
  }
  throw new Error(`no PGShmemHeader (magic ${SHMEM_MAGIC}) below MainLWLockArray at ${lwLockArray}`);
}

/** Shared memory is given out from the start of the block; `freeoffset` grows. */
export function endOfUse(memory: LinearMemory, block: Range): number {
  return block.start + memory.getWord(block.start + 4 * HEADER.freeOffset);
}

/**
 * A named allocation, by its entry in ShmemIndex, which lies in the block, too.
 *
 * @throws Error when there is none.
 */
export function findStruct(memory: LinearMemory, block: Range, wanted: string): Range {
  const { bytes, words } = memory;
  const key = new TextEncoder().encode(`${wanted}\0`);
  const firstWord = new DataView(key.buffer).getInt32(0, true);
  const end = endOfUse(memory, block) - key.length;
  for (let at = block.start; at < end; at += 4) {
    if (words[at >>> 2] !== firstWord || key.some((byte, offset) => bytes[at + offset] !== byte)) continue;
    const [start, size] = [memory.getWord(at + INDEX_KEY_BYTES), memory.getWord(at + INDEX_KEY_BYTES + 4)];
    if (start > block.start && start + size <= block.start + block.size) return { start, size };
  }
  throw new Error(`no entry '${wanted}' in ShmemIndex`);
}
