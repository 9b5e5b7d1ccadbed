/** What stands in the place of a file that was left out, so that touching it says so. */

const NOTICE = '# left out of this copy of PGlite to keep the download small\n';

/** As long as `abi_extra` allows: 31 characters. */
const LIBRARY_NOTICE = 'left out of this copy of PGlite';

/** `PG_VERSION_NUM / 100`; another number would be reported before the notice. */
const MAGIC_VERSION = 1800;

/** Spaces after one line that tells what happened. */
export function leftOutText(length: number): Uint8Array {
  const bytes = new Uint8Array(length).fill(0x20);
  bytes.set(new TextEncoder().encode(NOTICE).subarray(0, length));
  return bytes;
}

/**
 * A WASM side module that loads, but whose magic block (`Pg_magic_struct` in
 * src/include/fmgr.h) names the notice as its ABI. Postgres then refuses it, each
 * time, with "incompatible library ...: ABI mismatch" and the DETAIL
 * 'Server has ABI "PostgreSQL", library has "left out of this copy of PGlite".'
 * A library that cannot be loaded would say so once, in the words of the
 * JavaScript engine, and something else from the second time on.
 */
export function leftOutLibrary(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const module = Uint8Array.from(libraryModule());
  bytes.set(module);
  bytes.set(paddingHeader(length - module.length), module.length);
  return bytes;
}

/** `length` (of the whole struct), five ABI numbers, the ABI's name, and two null pointers. */
function magicBlock(): number[] {
  const name = new Uint8Array(32);
  name.set(new TextEncoder().encode(LIBRARY_NOTICE));
  const numbers = [64, MAGIC_VERSION, 100, 32, 64, 1].flatMap(int32);
  return [...numbers, ...name, ...int32(0), ...int32(0)];
}

function libraryModule(): number[] {
  const block = magicBlock();
  const I32 = 0x7f;
  const GLOBAL_GET_0 = [0x23, 0];
  const END = 0x0b;
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    // WASM_DYLINK_MEM_INFO: size and alignment of the data, none of the table.
    ...section(0, [...name('dylink.0'), 1, 4, block.length, 2, 0, 0]),
    ...section(1, [1, 0x60, 0, 1, I32]),
    ...section(2, [2, ...name('env'), ...name('memory'), 2, 0, 0, ...name('env'), ...name('__memory_base'), 3, I32, 0]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name('Pg_magic_func'), 0, 0]),
    ...section(10, [1, 4, 0, ...GLOBAL_GET_0, END]),
    ...section(11, [1, 0, ...GLOBAL_GET_0, END, ...bytesWithLength(block)]),
  ];
}

/** A custom section named "" whose zeros fill the rest of the file. */
function paddingHeader(rest: number): number[] {
  const size = rest - 6;
  const leb128 = [0, 7, 14, 21, 28].map((shift) => ((size >>> shift) & 0x7f) | (shift < 28 ? 0x80 : 0));
  return [0, ...leb128];
}

function section(id: number, body: readonly number[]): number[] {
  return [id, ...bytesWithLength(body)];
}

function name(text: string): number[] {
  return bytesWithLength([...new TextEncoder().encode(text)]);
}

/** Lengths here are below 128: one byte of LEB128. */
function bytesWithLength(bytes: readonly number[]): number[] {
  return [bytes.length, ...bytes];
}

/** Little-endian. */
function int32(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24];
}
