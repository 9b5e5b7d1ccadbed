/**
 * Makes Emscripten's file layer fit a store that others change, too. It was
 * written for one process and knows two things by name that must not be:
 *
 * - it caches names. A file that another session unlinked would still exist
 *   here, so that `open(O_CREAT | O_EXCL)` fails with EEXIST and a plain
 *   `open(O_CREAT)` with ENOENT;
 * - `fstat`, `ftruncate` and `fchmod` go by the path of the open file, which
 *   names another file, or none, after a rename or unlink.
 */
import type { FsStats } from '@electric-sql/pglite/basefs';

interface FsNode {
  readonly id: number;
  readonly name: string;
  readonly parent: FsNode;
  readonly mount: Mount;
  readonly mode: number;
  readonly node_ops: {
    getattr(node: FsNode): unknown;
    setattr(node: FsNode, attributes: Attributes): void;
  };
  readonly stream_ops: StreamOps;
}

interface Mount {
  readonly root: FsNode;
  readonly mounts: readonly Mount[];
}

/** The store's handle is missing for directories. */
interface FsStream {
  readonly node: FsNode;
  readonly nfd?: number;
}

interface Attributes {
  readonly size?: number;
  readonly mode?: number;
}

/** Emscripten asks a stream's operations first and falls back to the node's. */
interface StreamOps {
  getattr?: (stream: FsStream) => unknown;
  setattr?: (stream: FsStream, attributes: Attributes) => void;
}

/** The part of Emscripten's module that this file touches (PGlite types it by a package that it does not ship). */
export interface EmscriptenModule {
  readonly FS: {
    readonly root: { readonly mount: Mount };
    readonly ErrnoError: new (errno: number) => Error;
    lookupNode(parent: FsNode, name: string): FsNode;
    destroyNode(node: FsNode): void;
  };
}

/** What the adapter needs of a session's filesystem. */
interface Files {
  lstat(path: string): FsStats;
  fstat(handle: number): FsStats;
  ftruncate(handle: number, size: number): void;
  fchmod(handle: number, mode: number): void;
}

/** Call it right after PGlite has mounted the filesystem. */
export function shareNames(module: EmscriptenModule, files: Files): void {
  const mount = module.FS.root.mount.mounts.at(-1);
  if (mount === undefined) throw new Error('PGlite has not mounted its data directory.');
  checkCachedNames(module.FS, mount, files);
  statByHandle(module.FS, mount.root.stream_ops, files);
}

function checkCachedNames(fs: EmscriptenModule['FS'], mount: Mount, files: Files): void {
  const lookup = fs.lookupNode;
  fs.lookupNode = (parent, name) => {
    const node = lookup(parent, name);
    if (node.mount !== mount || !isStale(node, files)) return node;
    fs.destroyNode(node);
    return lookup(parent, name);
  };
}

function isStale(node: FsNode, files: Files): boolean {
  try {
    return ((files.lstat(pathOf(node)).mode ^ node.mode) & 0o170000) !== 0;
  } catch {
    return true;
  }
}

function pathOf(node: FsNode): string {
  let path = '';
  for (let at = node; at.parent !== at; at = at.parent) path = `/${at.name}${path}`;
  return path;
}

function statByHandle(fs: EmscriptenModule['FS'], ops: StreamOps, files: Files): void {
  ops.getattr = (stream) => {
    const { nfd, node } = stream;
    if (nfd === undefined) return node.node_ops.getattr(node);
    return inErrno(fs, () => withDates(files.fstat(nfd), node.id));
  };
  ops.setattr = (stream, attributes) => {
    const { nfd, node } = stream;
    if (nfd === undefined) return node.node_ops.setattr(node, attributes);
    inErrno(fs, () => {
      if (attributes.size !== undefined) files.ftruncate(nfd, attributes.size);
      if (attributes.mode !== undefined) files.fchmod(nfd, attributes.mode);
    });
  };
}

/** Emscripten wants Dates, and the inode number that it gave itself (so that `stat` and `fstat` agree). */
function withDates(stat: FsStats, ino: number): Record<string, unknown> {
  const time = new Date(stat.mtime);
  return { ...stat, ino, atime: time, mtime: time, ctime: time };
}

function inErrno<T>(fs: EmscriptenModule['FS'], action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'number') throw error;
    throw new fs.ErrnoError(code);
  }
}
