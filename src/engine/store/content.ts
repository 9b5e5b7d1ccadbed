/**
 * The bytes of one file, in chunks. Chunks make four things cheap: growing (no
 * copy of a large file), holes (a missing chunk reads as zeros), truncation
 * (chunks are dropped), and sharing with an image (a chunk is copied when it is
 * first written).
 */

/** Bytes per chunk: eight Postgres pages. A page never straddles two chunks. */
const CHUNK_BITS = 16;
const CHUNK = 1 << CHUNK_BITS;
/** The smallest allocation: one Postgres page. */
const PAGE = 8192;

/** The largest size: positions are computed in 32 bits. Postgres splits files at 1 GB. */
export const MAX_FILE_SIZE = 2 ** 31 - 1;

export class Content {
  #size = 0;
  /** A chunk may be shorter than CHUNK, or missing; what it lacks reads as zeros. */
  #chunks: (Uint8Array | undefined)[] = [];
  /** Chunks that others read, too: never written in place. */
  #shared: boolean[] = [];

  /** A file over bytes that nobody will change; they are not copied. */
  static over(bytes: Uint8Array): Content {
    const content = new Content();
    content.#size = bytes.length;
    for (let at = 0; at < bytes.length; at += CHUNK) {
      content.#chunks.push(bytes.subarray(at, at + CHUNK));
      content.#shared.push(true);
    }
    return content;
  }

  get size(): number {
    return this.#size;
  }

  /** The same bytes once more, copied chunk by chunk when either side writes. */
  clone(): Content {
    const copy = new Content();
    copy.#size = this.#size;
    copy.#chunks = this.#chunks.slice();
    this.#shared.fill(true);
    copy.#shared = this.#shared.slice();
    return copy;
  }

  /** Copies up to `length` bytes from `position` to `target[offset..]`; returns how many. */
  read(target: Uint8Array, offset: number, length: number, position: number): number {
    const count = Math.max(0, Math.min(length, this.#size - position));
    let done = 0;
    while (done < count) {
      const within = (position + done) & (CHUNK - 1);
      const part = Math.min(count - done, CHUNK - within);
      const chunk = this.#chunks[(position + done) >>> CHUNK_BITS];
      copyOrZero(chunk, within, part, target, offset + done);
      done += part;
    }
    return count;
  }

  /** Copies `source[offset, offset + length)` to `position`. A gap before it becomes a hole. */
  write(source: Uint8Array, offset: number, length: number, position: number): void {
    let done = 0;
    while (done < length) {
      const within = (position + done) & (CHUNK - 1);
      const part = Math.min(length - done, CHUNK - within);
      const chunk = this.#writable((position + done) >>> CHUNK_BITS, within + part);
      chunk.set(source.subarray(offset + done, offset + done + part), within);
      done += part;
    }
    if (length > 0 && position + length > this.#size) this.#size = position + length;
  }

  /** Cuts, or extends with a hole. */
  truncate(size: number): void {
    if (size < this.#size) this.#cut(size);
    this.#size = size;
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.#size);
    this.read(all, 0, this.#size, 0);
    return all;
  }

  /** What lies beyond the end must go: a later extension has to read zeros. */
  #cut(size: number): void {
    const last = size >>> CHUNK_BITS;
    const within = size & (CHUNK - 1);
    const keep = within === 0 ? last : last + 1;
    this.#chunks.length = Math.min(this.#chunks.length, keep);
    this.#shared.length = this.#chunks.length;
    const tail = within === 0 ? undefined : this.#chunks[last];
    if (tail === undefined || tail.length <= within) return;
    this.#chunks[last] = this.#shared[last] ? tail.subarray(0, within) : tail.slice(0, within);
  }

  /** The chunk, owned, with room up to `end`. */
  #writable(index: number, end: number): Uint8Array {
    const chunk = this.#chunks[index];
    if (chunk !== undefined && !this.#shared[index] && chunk.length >= end) return chunk;
    const grown = new Uint8Array(roomFor(Math.max(end, chunk?.length ?? 0)));
    if (chunk !== undefined) grown.set(chunk);
    // No holes in the arrays themselves: `shared` is filled and copied as a whole.
    while (this.#chunks.length <= index) {
      this.#chunks.push(undefined);
      this.#shared.push(false);
    }
    this.#chunks[index] = grown;
    this.#shared[index] = false;
    return grown;
  }
}

/** 8, 16, 32 or 64 kB: doubling, but never more than a chunk. */
function roomFor(end: number): number {
  let room = PAGE;
  while (room < end) room *= 2;
  return room;
}

function copyOrZero(chunk: Uint8Array | undefined, from: number, length: number, target: Uint8Array, to: number): void {
  const have = chunk === undefined ? 0 : Math.max(0, Math.min(length, chunk.length - from));
  if (chunk !== undefined && have > 0) target.set(chunk.subarray(from, from + have), to);
  if (have < length) target.fill(0, to + have, to + length);
}
