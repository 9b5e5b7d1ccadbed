/**
 * Puts PGlite's own seven hundred files into a backend's file system, faster
 * than the glue does: it creates, opens, writes, closes and chmods each by its
 * path, which takes longer than all that Postgres does at its start.
 *
 * All backends share the bytes, so the files cannot be written (EACCES).
 */

interface FsNode {
  contents: unknown;
  usedBytes: number;
}

/** Emscripten's file system, as far as it is used here. */
export interface FileModule {
  readonly FS: { lookupPath(path: string): { node: FsNode } };
  readonly MEMFS: { createNode(parent: FsNode, name: string, mode: number, device: number): FsNode };
  FS_createDataFile: CreateDataFile;
}

type CreateDataFile = (path: string, name: null, data: Uint8Array, ...flags: boolean[]) => void;

/** A regular file that everybody may read and run. */
const READ_ONLY = 0o100555;

/** Call it before the glue unpacks `pglite.data` (in a `preRun`). */
export function speedUpFiles(module: FileModule): void {
  const directories = new Map<string, FsNode>();
  const directory = (path: string): FsNode => {
    const node = directories.get(path) ?? module.FS.lookupPath(path).node;
    directories.set(path, node);
    return node;
  };
  module.FS_createDataFile = (path, _name, data) => {
    const slash = path.lastIndexOf('/');
    const node = module.MEMFS.createNode(directory(path.slice(0, slash)), path.slice(slash + 1), READ_ONLY, 0);
    node.contents = data;
    node.usedBytes = data.length;
  };
}
