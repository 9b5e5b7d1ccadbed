/**
 * Just enough of tar (ustar: names up to 255 bytes, files and directories) to
 * carry a data directory. Damage is told with the byte at which it was found.
 */
import { EngineError } from '../errors.ts';

const BLOCK = 512;
const NAME = { at: 0, length: 100 };
const MODE = { at: 100, length: 8 };
const SIZE = { at: 124, length: 12 };
const CHECKSUM = { at: 148, length: 8 };
const TYPE = 156;
const MAGIC = { at: 257, length: 5 };
const PREFIX = { at: 345, length: 155 };

export interface TarEntry {
  /** Without a leading or trailing slash. */
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly mode: number;
  /** A view of the archive, not a copy. Empty for a directory. */
  readonly data: Uint8Array;
}

/** True when the bytes begin as a tar does. */
export function isTar(bytes: Uint8Array): boolean {
  return bytes.length >= BLOCK && text(bytes, MAGIC) === 'ustar';
}

/** @throws EngineError ASSETS_UNAVAILABLE for a damaged archive or an entry that is neither file nor directory. */
export function readTar(bytes: Uint8Array): TarEntry[] {
  const entries: TarEntry[] = [];
  for (let at = 0; ;) {
    if (at + BLOCK > bytes.length) throw damaged(at, 'the end of the archive is missing');
    const header = bytes.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return entries;
    const entry = readEntry(bytes, header, at);
    if (entry.path !== '') entries.push(entry);
    at += BLOCK + padded(entry.data.length);
  }
}

function readEntry(bytes: Uint8Array, header: Uint8Array, at: number): TarEntry {
  assertHeader(header, at);
  const kind = kindOf(header[TYPE] ?? 0, at);
  const prefix = text(header, PREFIX);
  const name = (prefix === '' ? '' : `${prefix}/`) + text(header, NAME);
  const path = name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
  const size = kind === 'file' ? octal(header, SIZE) : 0;
  const from = at + BLOCK;
  if (!(from + size <= bytes.length)) {
    throw damaged(at, `${path} has ${size} bytes, but only ${bytes.length - from} are left`);
  }
  return { path, kind, mode: octal(header, MODE) & 0o7777, data: bytes.subarray(from, from + size) };
}

function assertHeader(header: Uint8Array, at: number): void {
  const magic = text(header, MAGIC);
  if (magic !== 'ustar') throw damaged(at, `expected the magic "ustar", found ${JSON.stringify(magic)}`);
  const expected = octal(header, CHECKSUM);
  const found = checksum(header);
  if (expected !== found) throw damaged(at, `the header's checksum is ${found}, not ${expected}`);
}

function kindOf(type: number, at: number): TarEntry['kind'] {
  const letter = String.fromCharCode(type);
  if (letter === '0' || type === 0) return 'file';
  if (letter === '5') return 'directory';
  throw damaged(at, `entry type ${JSON.stringify(letter)} is neither a file nor a directory`);
}

/** The archive of the entries, in their order. The same entries give the same bytes: no times, no owners. */
export function writeTar(entries: Iterable<TarEntry>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    const body = new Uint8Array(padded(entry.data.length));
    body.set(entry.data);
    parts.push(header(entry), body);
  }
  parts.push(new Uint8Array(2 * BLOCK));
  return concat(parts);
}

function header(entry: TarEntry): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const name = entry.kind === 'directory' ? `${entry.path}/` : entry.path;
  if (name.length > NAME.length) {
    throw new EngineError('BAD_ARGUMENT', `A path in a tar may have ${NAME.length} bytes, ${name} has ${name.length}.`);
  }
  const put = (at: number, value: string): void => block.set(new TextEncoder().encode(value), at);
  put(NAME.at, name);
  put(MODE.at, `${entry.mode.toString(8).padStart(7, '0')}\0`);
  for (const [at, digits] of [
    [108, 7],
    [116, 7],
    [136, 11],
  ] as const)
    put(at, `${'0'.repeat(digits)}\0`);
  put(SIZE.at, `${entry.data.length.toString(8).padStart(11, '0')}\0`);
  put(TYPE, entry.kind === 'directory' ? '5' : '0');
  put(MAGIC.at, 'ustar\x0000');
  put(CHECKSUM.at, `${checksum(block).toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** The sum of the header's bytes, its own field taken as spaces. */
function checksum(header: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) {
    const own = i >= CHECKSUM.at && i < CHECKSUM.at + CHECKSUM.length;
    sum += own ? 0x20 : (header[i] ?? 0);
  }
  return sum;
}

function text(header: Uint8Array, field: { at: number; length: number }): string {
  const bytes = header.subarray(field.at, field.at + field.length);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function octal(header: Uint8Array, field: { at: number; length: number }): number {
  return Number.parseInt(text(header, field).trim() || '0', 8);
}

function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function damaged(at: number, what: string): EngineError {
  return new EngineError(
    'ASSETS_UNAVAILABLE',
    `The archive of the data directory is damaged at byte ${at}: ${what}. Make it anew or load it again.`,
  );
}
