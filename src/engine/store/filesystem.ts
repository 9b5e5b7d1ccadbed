/**
 * One session's view of the shared store: PGlite's `BaseFilesystem` with a table
 * of open files of its own.
 */
import { BaseFilesystem, type FsStats } from '@electric-sql/pglite/basefs';
import { shareNames, type EmscriptenModule } from './adapter.ts';
import { StoreError } from './errno.ts';
import type { Stat, Store } from './store.ts';
import type { FileNode } from './tree.ts';

type Init = BaseFilesystem['init'];

export class SessionFilesystem extends BaseFilesystem {
  readonly store: Store;
  readonly #files = new Map<number, FileNode>();
  /** PGlite takes handle 0 for "not open". */
  #nextHandle = 1;
  /** The view of WASM memory; made anew when memory has grown and its buffer is another. */
  #heap: Uint8Array = new Uint8Array(0);

  constructor(store: Store) {
    super();
    this.store = store;
  }

  override async init(...[pg, options]: Parameters<Init>): ReturnType<Init> {
    const result = await super.init(pg, options);
    const preRun = result.emscriptenOpts.preRun ?? [];
    // The last one, PGlite's, mounts this filesystem. Wrapped, not appended to: its place in the order stays.
    const mount = preRun.at(-1);
    if (mount === undefined) return result;
    const wrapped: typeof mount = (module) => {
      mount(module);
      shareNames(module as unknown as EmscriptenModule, this);
    };
    return { emscriptenOpts: { ...result.emscriptenOpts, preRun: [...preRun.slice(0, -1), wrapped] } };
  }

  /** Closes what the session left open, so that unlinked files give back their bytes. */
  override async closeFs(): Promise<void> {
    this.releaseAll();
  }

  /** As `closeFs`, for a session whose instance is gone without a word. */
  releaseAll(): void {
    for (const file of this.#files.values()) this.store.release(file);
    this.#files.clear();
  }

  open(path: string): number {
    const handle = this.#nextHandle++;
    this.#files.set(handle, this.store.open(path));
    return handle;
  }

  close(handle: number): void {
    const file = this.#file(handle);
    this.#files.delete(handle);
    this.store.release(file);
  }

  read(handle: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.store.read(this.#file(handle), this.#bytes(buffer), offset, length, position);
  }

  write(handle: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.store.write(this.#file(handle), this.#bytes(buffer), offset, length, position);
  }

  fstat(handle: number): FsStats {
    return toFsStats(this.store.fstat(this.#file(handle)));
  }

  ftruncate(handle: number, size: number): void {
    this.store.truncate(this.#file(handle), size);
  }

  fchmod(handle: number, mode: number): void {
    this.store.fchmod(this.#file(handle), mode);
  }

  lstat(path: string): FsStats {
    return toFsStats(this.store.stat(path));
  }

  truncate(path: string, size = 0): void {
    const file = this.store.open(path);
    try {
      this.store.truncate(file, size);
    } finally {
      this.store.release(file);
    }
  }

  writeFile(path: string, data: string | Uint8Array, options?: { mode?: number }): void {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    this.store.writeFile(path, bytes, options);
  }

  mkdir(path: string, options?: { recursive?: boolean; mode?: number }): void {
    this.store.mkdir(path, options);
  }

  readdir(path: string): string[] {
    return this.store.readdir(path);
  }

  rename(from: string, to: string): void {
    this.store.rename(from, to);
  }

  rmdir(path: string): void {
    this.store.rmdir(path);
  }

  unlink(path: string): void {
    this.store.unlink(path);
  }

  chmod(path: string, mode: number): void {
    this.store.chmod(path, mode);
  }

  utimes(path: string, _atime: number, mtime: number): void {
    this.store.utimes(path, mtime);
  }

  #file(handle: number): FileNode {
    const file = this.#files.get(handle);
    if (file === undefined) throw new StoreError('EBADF', `handle ${handle} is not open`);
    return file;
  }

  /**
   * PGlite's adapter passes `read` a view (HEAP8, signed) and `write` the bare
   * buffer, in spite of its types; offsets count from the start of what is passed.
   */
  #bytes(passed: Uint8Array | Int8Array | ArrayBufferLike): Uint8Array {
    if (ArrayBuffer.isView(passed) && (passed.byteOffset !== 0 || passed.byteLength !== passed.buffer.byteLength)) {
      return new Uint8Array(passed.buffer, passed.byteOffset, passed.byteLength);
    }
    const buffer = ArrayBuffer.isView(passed) ? passed.buffer : passed;
    if (this.#heap.buffer !== buffer) this.#heap = new Uint8Array(buffer);
    return this.#heap;
  }
}

function toFsStats(stat: Stat): FsStats {
  const { ino, mode, size, blocks, mtime } = stat;
  return {
    dev: 0,
    ino,
    mode,
    nlink: 1,
    uid: 0,
    gid: 0,
    rdev: 0,
    size,
    blksize: 8192,
    blocks,
    atime: mtime,
    mtime,
    ctime: mtime,
  };
}
