/** A block of shared memory as Postgres lays it out, in miniature. */
import { LinearMemory } from '../memory.ts';
import type { Range } from '../sharedIndex.ts';
import { SLRU_NAMES } from '../slru.ts';

const MAGIC = 679834894;
export const BLOCK = 4096;
export const LW_LOCKS = BLOCK + 64;
export const CONTROL: Range = { start: 800_000, size: 100 };
const BLOCK_BYTES = 700_000;
const INDEX = BLOCK + 1024;
const PAGE = 8192;
export const BUFFERS = 4;
export const SLOTS = 2;

export interface FakeShared {
  readonly memory: LinearMemory;
  readonly structs: ReadonlyMap<string, Range>;
}

/** Names in the order in which they lie in memory, with their sizes. */
const STRUCTS: readonly (readonly [string, number])[] = [
  ['Preallocated DSM', 1000],
  ...SLRU_NAMES.map((name) => [name, 256 + SLOTS * PAGE + (name === 'transaction' ? SLOTS * 64 : 0)] as const),
  ['Buffer Descriptors', BUFFERS * 64],
  ['Buffer Blocks', (BUFFERS + 1) * PAGE],
  ['Shared Memory Stats', 2000],
  ['commit_timestamp', 3000],
];

export function fakeShared(): FakeShared {
  const memory = new LinearMemory(new WebAssembly.Memory({ initial: 16 }));
  const structs = new Map<string, Range>();
  let at = BLOCK + 4096;
  STRUCTS.forEach(([name, size], index) => {
    structs.set(name, { start: at, size });
    memory.bytes.set(new TextEncoder().encode(`${name}\0`), INDEX + index * 72);
    memory.setWord(INDEX + index * 72 + 48, at);
    memory.setWord(INDEX + index * 72 + 52, size);
    at += Math.ceil(size / 128) * 128;
  });
  memory.setWord(BLOCK, MAGIC);
  memory.setWord(BLOCK + 8, BLOCK_BYTES);
  memory.setWord(BLOCK + 12, at - BLOCK);
  for (const name of SLRU_NAMES) makeCache(memory, structs.get(name) as Range, name === 'transaction');
  for (let id = 0; id < BUFFERS; id++) memory.setWord(descriptorOf({ memory, structs }, id) + 20, id);
  return { memory, structs };
}

function makeCache(memory: LinearMemory, { start }: Range, hasLsns: boolean): void {
  const [pointers, status, pages] = [start + 64, start + 128, start + 256];
  const header = new Map([
    [0, SLOTS],
    [4, pointers],
    [8, status],
    [36, hasLsns ? pages + SLOTS * PAGE : 0],
    [40, hasLsns ? 8 : 0],
  ]);
  for (const [offset, value] of header) memory.setWord(start + offset, value);
  for (let slot = 0; slot < SLOTS; slot++) memory.setWord(pointers + 4 * slot, pages + slot * PAGE);
}

/** Address of the status of a cache's slot: 0 is empty. */
export function statusOf({ structs }: FakeShared, name: string, slot: number): number {
  return (structs.get(name)?.start ?? 0) + 128 + 4 * slot;
}

export function cachePage({ structs }: FakeShared, name: string, slot: number): number {
  return (structs.get(name)?.start ?? 0) + 256 + slot * PAGE;
}

export function descriptorOf({ structs }: FakeShared, id: number): number {
  return (structs.get('Buffer Descriptors')?.start ?? 0) + id * 64;
}

export function bufferPage({ structs }: FakeShared, id: number): number {
  return Math.ceil((structs.get('Buffer Blocks')?.start ?? 0) / 4096) * 4096 + id * PAGE;
}
