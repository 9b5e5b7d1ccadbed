/**
 * A data directory that never changes, from which stores are made. Opening one
 * takes about a millisecond: files share the image's bytes until they are
 * written, so a cluster can be booted again without decompressing anything.
 */
import { Content } from './content.ts';
import { Store, type StoreOptions } from './store.ts';
import { readTar, writeTar, type TarEntry } from './tar.ts';

export class Image {
  readonly #store: Store;

  private constructor(store: Store) {
    this.#store = store;
  }

  /** The store as it is now; later changes of the store do not show. */
  static of(store: Store): Image {
    return new Image(store.clone());
  }

  /**
   * Keeps the archive's bytes and shares them with every store: do not change them.
   *
   * @throws EngineError ASSETS_UNAVAILABLE for a damaged archive.
   */
  static fromTar(bytes: Uint8Array): Image {
    const store = new Store();
    for (const entry of readTar(bytes)) unpack(store, entry);
    return new Image(store.clone());
  }

  /** Bytes in use before a session has written anything (see `Store.usedBytes`). */
  get usedBytes(): number {
    return this.#store.usedBytes;
  }

  /** A new store with the image's files. */
  open(options: StoreOptions = {}): Store {
    return this.#store.clone(options);
  }

  /** An archive of the image, sorted by path. */
  toTar(): Uint8Array {
    return writeTar(entriesOf(this.#store, ''));
  }
}

function unpack(store: Store, entry: TarEntry): void {
  if (entry.kind === 'directory') {
    store.mkdir(entry.path, { mode: entry.mode, recursive: true });
    return;
  }
  const parent = entry.path.split('/').slice(0, -1).join('/');
  if (parent !== '') store.mkdir(parent, { recursive: true });
  const file = store.open(entry.path, { create: true, mode: entry.mode });
  file.content = Content.over(entry.data);
  store.release(file);
}

function* entriesOf(store: Store, directory: string): Generator<TarEntry> {
  for (const name of store.readdir(directory).sort()) {
    const path = directory === '' ? name : `${directory}/${name}`;
    const { mode } = store.stat(path);
    const isDirectory = (mode & 0o170000) === 0o040000;
    const data = isDirectory ? new Uint8Array(0) : store.readFile(path);
    yield { path, kind: isDirectory ? 'directory' : 'file', mode: mode & 0o7777, data };
    if (isDirectory) yield* entriesOf(store, path);
  }
}
