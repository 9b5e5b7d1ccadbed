/**
 * One in-memory data directory for all sessions of a cluster. The sessions live
 * in one thread and share this object by reference, so there is no locking and
 * no copying: what one session writes, the next one reads.
 *
 * Pure: it knows neither PGlite nor WASM (`filesystem.ts` does).
 */
import { MAX_FILE_SIZE } from './content.ts';
import { StoreError } from './errno.ts';
import {
  copyTree,
  createDirectory,
  createFile,
  findPlace,
  setPermissions,
  splitPath,
  walk,
  type DirectoryNode,
  type FileNode,
  type Node,
  type Place,
} from './tree.ts';

/** Files are charged in whole Postgres pages. */
const BLOCK = 8192;

export interface StoreOptions {
  /** Bytes that all files together may use; more is ENOSPC (SQLSTATE 53100). Default: no limit. */
  readonly limitBytes?: number;
  /**
   * Bytes beyond the limit for files outside `base/` (write-ahead log,
   * transaction status). Postgres answers a table that cannot grow with a plain
   * error, but a log that cannot grow with PANIC: keep room for the log.
   * Default: 0.
   */
  readonly reserveBytes?: number;
  /** Milliseconds since the epoch, for `mtime`. Default: `Date.now`. */
  readonly now?: () => number;
}

/** What `stat()` tells. Times in milliseconds. */
export interface Stat {
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  /** Of 512 bytes, as in `st_blocks`. */
  readonly blocks: number;
  readonly mtime: number;
}

export class Store {
  #root: DirectoryNode;
  #nextIno = 2;
  #usedBytes = 0;
  readonly #limitBytes: number;
  readonly #reserveBytes: number;
  readonly #now: () => number;

  constructor(options: StoreOptions = {}) {
    this.#limitBytes = options.limitBytes ?? Infinity;
    this.#reserveBytes = options.reserveBytes ?? 0;
    this.#now = options.now ?? Date.now;
    this.#root = createDirectory(1, 0o700, this.#now());
  }

  /**
   * Bytes that files use, each rounded up to 8 kB. Holes count in full: PGlite
   * turns `posix_fallocate` into `ftruncate`, and Postgres must hear about a
   * full disk when it extends a table, not when it evicts a page later.
   */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  get limitBytes(): number {
    return this.#limitBytes;
  }

  /** A store of its own with the same files; bytes are shared until either side writes them. */
  clone(options: StoreOptions = {}): Store {
    const copy = new Store(options);
    copy.#root = copyTree(this.#root);
    copy.#nextIno = this.#nextIno;
    copy.#usedBytes = sumTree(copy.#root);
    return copy;
  }

  // Names

  /** @throws StoreError ENOENT, ENOTDIR. */
  stat(path: string): Stat {
    return statOf(walk(this.#root, path));
  }

  readdir(path: string): string[] {
    const node = walk(this.#root, path);
    if (node.kind !== 'directory') throw new StoreError('ENOTDIR', path);
    return [...node.children.keys()];
  }

  mkdir(path: string, options: { mode?: number; recursive?: boolean } = {}): void {
    if (options.recursive) this.#mkdirParents(path, options.mode);
    const place = findPlace(this.#root, path);
    if (place.node !== undefined) {
      if (options.recursive && place.node.kind === 'directory') return;
      throw new StoreError('EEXIST', path);
    }
    this.#link(place, createDirectory(this.#nextIno++, options.mode ?? 0o700, this.#now()));
  }

  rmdir(path: string): void {
    const place = findPlace(this.#root, path);
    if (place.node === undefined) throw new StoreError('ENOENT', path);
    if (place.node.kind !== 'directory') throw new StoreError('ENOTDIR', path);
    if (place.node.children.size > 0) throw new StoreError('ENOTEMPTY', path);
    this.#unlink(place);
  }

  unlink(path: string): void {
    const place = findPlace(this.#root, path);
    if (place.node === undefined) throw new StoreError('ENOENT', path);
    if (place.node.kind === 'directory') throw new StoreError('EISDIR', path);
    this.#unlink(place);
  }

  /** Replaces what `to` names, as rename(2) does. Whoever has that open keeps its bytes. */
  rename(from: string, to: string): void {
    const source = findPlace(this.#root, from);
    if (source.node === undefined) throw new StoreError('ENOENT', from);
    const target = findPlace(this.#root, to);
    if (target.node === source.node) return;
    assertReplaceable(source.node, target.node, from, to);
    if (target.node !== undefined) this.#unlink(target);
    source.directory.children.delete(source.name);
    this.#link(target, source.node);
  }

  chmod(path: string, mode: number): void {
    setPermissions(walk(this.#root, path), mode);
  }

  utimes(path: string, mtime: number): void {
    walk(this.#root, path).mtime = mtime;
  }

  /** Creates the file, or replaces all of its bytes. */
  writeFile(path: string, data: Uint8Array, options: { mode?: number } = {}): void {
    const file = this.open(path, { create: true, mode: options.mode ?? 0o600 });
    try {
      this.truncate(file, 0);
      this.write(file, data, 0, data.length, 0);
    } finally {
      this.release(file);
    }
  }

  readFile(path: string): Uint8Array {
    return this.#fileAt(path).content.bytes();
  }

  // Open files

  /** An open file: survives rename and unlink until it is released as often as it was opened. */
  open(path: string, options: { create?: boolean; mode?: number } = {}): FileNode {
    const file = options.create ? this.#openOrCreate(path, options.mode) : this.#fileAt(path);
    file.handles++;
    return file;
  }

  release(file: FileNode): void {
    file.handles--;
    this.#freeIfUnused(file);
  }

  fstat(file: FileNode): Stat {
    return statOf(file);
  }

  read(file: FileNode, target: Uint8Array, offset: number, length: number, position: number): number {
    return file.content.read(target, offset, length, position);
  }

  /** @throws StoreError ENOSPC, EFBIG: then nothing has been written. */
  write(file: FileNode, source: Uint8Array, offset: number, length: number, position: number): number {
    const end = position + length;
    if (length > 0 && end > file.content.size) this.#charge(file, end);
    file.content.write(source, offset, length, position);
    file.mtime = this.#now();
    return length;
  }

  truncate(file: FileNode, size: number): void {
    this.#charge(file, size);
    file.content.truncate(size);
    file.mtime = this.#now();
  }

  fchmod(file: FileNode, mode: number): void {
    setPermissions(file, mode);
  }

  // Inside

  #mkdirParents(path: string, mode = 0o700): void {
    const names = splitPath(path);
    let directory = this.#root;
    for (const name of names.slice(0, -1)) {
      let child = directory.children.get(name);
      if (child === undefined) {
        child = createDirectory(this.#nextIno++, mode, this.#now());
        this.#link({ directory, name, node: undefined }, child);
      }
      if (child.kind !== 'directory') throw new StoreError('ENOTDIR', path);
      directory = child;
    }
  }

  #fileAt(path: string): FileNode {
    const node = walk(this.#root, path);
    if (node.kind !== 'file') throw new StoreError('EISDIR', path);
    return node;
  }

  #openOrCreate(path: string, mode = 0o600): FileNode {
    const place = findPlace(this.#root, path);
    if (place.node !== undefined) return this.#fileAt(path);
    const reserved = splitPath(path)[0] !== 'base';
    const file = createFile(this.#nextIno++, mode, this.#now(), reserved);
    this.#link(place, file);
    return file;
  }

  #link(place: Place, node: Node): void {
    place.directory.children.set(place.name, node);
    place.directory.mtime = this.#now();
  }

  #unlink(place: Place): void {
    place.directory.children.delete(place.name);
    place.directory.mtime = this.#now();
    if (place.node?.kind !== 'file') return;
    place.node.linked = false;
    this.#freeIfUnused(place.node);
  }

  #freeIfUnused(file: FileNode): void {
    if (file.linked || file.handles > 0) return;
    this.#charge(file, 0);
    file.content.truncate(0);
  }

  #charge(file: FileNode, size: number): void {
    if (size < 0) throw new StoreError('EINVAL', `a file of ${size} bytes`);
    if (size > MAX_FILE_SIZE) throw new StoreError('EFBIG', `a file of ${size} bytes`);
    const more = charged(size) - charged(file.content.size);
    const limit = this.#limitBytes + (file.reserved ? this.#reserveBytes : 0);
    if (more > 0 && this.#usedBytes + more > limit) {
      throw new StoreError('ENOSPC', `${this.#usedBytes} of ${limit} bytes used, ${more} more wanted`);
    }
    this.#usedBytes += more;
  }
}

function charged(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

function sumTree(directory: DirectoryNode): number {
  let sum = 0;
  for (const child of directory.children.values()) {
    sum += child.kind === 'directory' ? sumTree(child) : charged(child.content.size);
  }
  return sum;
}

function statOf(node: Node): Stat {
  const size = node.kind === 'file' ? node.content.size : 0;
  return { ino: node.ino, mode: node.mode, size, blocks: charged(size) / 512, mtime: node.mtime };
}

function assertReplaceable(source: Node, target: Node | undefined, from: string, to: string): void {
  if (source.kind === 'directory' && `${splitPath(to).join('/')}/`.startsWith(`${splitPath(from).join('/')}/`)) {
    throw new StoreError('EINVAL', `${to} lies inside ${from}`);
  }
  if (target === undefined) return;
  if (source.kind === 'file' && target.kind === 'directory') throw new StoreError('EISDIR', to);
  if (source.kind === 'directory' && target.kind === 'file') throw new StoreError('ENOTDIR', to);
  if (target.kind === 'directory' && target.children.size > 0) throw new StoreError('ENOTEMPTY', to);
}
