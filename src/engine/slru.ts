/** Postgres' small caches (SLRU) in shared memory: 16 pages each, of which one or two are in use. */
import type { LinearMemory } from './memory.ts';
import type { Range } from './sharedIndex.ts';

/** Names in ShmemIndex; commit timestamps are off. */
export const SLRU_NAMES = [
  'transaction',
  'subtransaction',
  'multixact_offset',
  'multixact_member',
  'serializable',
  'notify',
] as const;

/** Offsets in SlruSharedData (access/slru.h). */
const FIELD = { slots: 0, pages: 4, status: 8, groupLsn: 36, groupsPerPage: 40 } as const;
const PAGE_BYTES = 8192;
const LSN_BYTES = 8;
/** SLRU_PAGE_EMPTY; the last is SLRU_PAGE_WRITE_IN_PROGRESS. */
const EMPTY = 0;
const LAST_STATUS = 3;

/** @throws Error when `cache` does not look like one, for a build other than the pinned one. */
export function checkSlru(memory: LinearMemory, name: string, cache: Range): void {
  const slots = memory.getWord(cache.start + FIELD.slots);
  const isInside = (at: number): boolean => at > cache.start && at + PAGE_BYTES <= cache.start + cache.size;
  const isSlot = (slot: number): boolean => {
    const status = statusOf(memory, cache, slot);
    return isInside(pageOf(memory, cache, slot)) && status >= EMPTY && status <= LAST_STATUS;
  };
  if (slots < 1 || slots > 1024 || !Array.from({ length: slots }, (_, slot) => isSlot(slot)).every(Boolean)) {
    throw new Error(`a cache '${name}' that is laid out differently (${slots} slots)`);
  }
}

/** What need not be copied of a cache: its empty pages, and their LSNs where it keeps some. */
export function emptyPages({ words }: LinearMemory, cache: Range): Range[] {
  const field = (offset: number): number => words[(cache.start + offset) >>> 2] ?? 0;
  const [pages, status] = [field(FIELD.pages) >>> 2, field(FIELD.status) >>> 2];
  const [slots, groups, groupBytes] = [
    field(FIELD.slots),
    field(FIELD.groupLsn),
    field(FIELD.groupsPerPage) * LSN_BYTES,
  ];
  const empty: Range[] = [];
  for (let slot = 0; slot < slots; slot++) {
    if (words[status + slot] !== EMPTY) continue;
    empty.push({ start: words[pages + slot] ?? 0, size: PAGE_BYTES });
    if (groups !== 0) empty.push({ start: groups + slot * groupBytes, size: groupBytes });
  }
  return empty;
}

function pageOf(memory: LinearMemory, cache: Range, slot: number): number {
  return memory.getWord(memory.getWord(cache.start + FIELD.pages) + 4 * slot);
}

function statusOf(memory: LinearMemory, cache: Range, slot: number): number {
  return memory.getWord(memory.getWord(cache.start + FIELD.status) + 4 * slot);
}
