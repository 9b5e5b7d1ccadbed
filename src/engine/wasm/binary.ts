/** Reading and writing the WebAssembly binary format (core specification, chapter 5). */

/** Value types that PGlite's functions use, by their binary code. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F32 = 0x7d;
export const F64 = 0x7c;

/** Section ids. */
export const SECTION = { type: 1, import: 2, function: 3, table: 4, global: 6, export: 7, code: 10 } as const;

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
export const HEADER: Uint8Array = Uint8Array.from(MAGIC);

/** A position in a binary, moved on by each read. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new RangeError(`WebAssembly binary ends at byte ${this.at - 1}`);
    return value;
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  u32(): number {
    let result = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      result |= (byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) return result >>> 0;
    }
  }

  /** A signed LEB128 number of at most 32 bits. */
  s32(): number {
    let result = 0;
    for (let shift = 0; ;) {
      const byte = this.byte();
      result |= (byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) === 0) return shift < 32 && (byte & 0x40) !== 0 ? result | (-1 << shift) : result;
    }
  }

  name(): string {
    const length = this.u32();
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    return text;
  }

  vector<T>(read: (reader: Reader, index: number) => T): T[] {
    return Array.from({ length: this.u32() }, (_, index) => read(this, index));
  }

  /** A `limits` pair: minimum, and maximum if there is one. */
  limits(): { min: number; max: number | undefined } {
    const flags = this.byte();
    const min = this.u32();
    return { min, max: (flags & 1) === 1 ? this.u32() : undefined };
  }
}

/** Unsigned LEB128. */
export function u32(value: number): number[] {
  const out: number[] = [];
  do {
    const low = value & 0x7f;
    value >>>= 7;
    out.push(value === 0 ? low : low | 0x80);
  } while (value !== 0);
  return out;
}

/** Signed LEB128. */
export function s32(value: number): number[] {
  const out: number[] = [];
  for (;;) {
    const low = value & 0x7f;
    value >>= 7;
    const done = (value === 0 && (low & 0x40) === 0) || (value === -1 && (low & 0x40) !== 0);
    out.push(done ? low : low | 0x80);
    if (done) return out;
  }
}

export function name(text: string): number[] {
  const utf8 = new TextEncoder().encode(text);
  return [...u32(utf8.length), ...utf8];
}

export function vector(items: readonly (readonly number[])[]): number[] {
  return [...u32(items.length), ...items.flat()];
}

export function section(id: number, body: readonly number[]): number[] {
  return [id, ...u32(body.length), ...body];
}

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
