/** The inode tree: files and directories as plain objects, found by path. */
import { Content } from './content.ts';
import { StoreError } from './errno.ts';

const S_IFDIR = 0o040000;
const S_IFREG = 0o100000;
const PERMISSIONS = 0o7777;

interface Inode {
  readonly ino: number;
  /** Type and permissions, as in `stat.st_mode`. */
  mode: number;
  /** Milliseconds since the epoch; the store keeps one time where Unix keeps three. */
  mtime: number;
}

export interface FileNode extends Inode {
  readonly kind: 'file';
  content: Content;
  /** Open handles in all sessions. An unlinked file lives until the last is closed. */
  handles: number;
  linked: boolean;
  /** May use the store's reserve (see `StoreOptions.reserveBytes`). */
  readonly reserved: boolean;
}

export interface DirectoryNode extends Inode {
  readonly kind: 'directory';
  readonly children: Map<string, Node>;
}

export type Node = FileNode | DirectoryNode;

/** A place in a directory, taken or free. */
export interface Place {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | undefined;
}

export function createDirectory(ino: number, mode: number, mtime: number): DirectoryNode {
  return { kind: 'directory', ino, mode: S_IFDIR | (mode & PERMISSIONS), mtime, children: new Map() };
}

export function createFile(ino: number, mode: number, mtime: number, reserved: boolean): FileNode {
  return {
    kind: 'file',
    ino,
    mode: S_IFREG | (mode & PERMISSIONS),
    mtime,
    content: new Content(),
    handles: 0,
    linked: true,
    reserved,
  };
}

/** Replaces the permissions and keeps the type. */
export function setPermissions(node: Node, mode: number): void {
  node.mode = (node.mode & ~PERMISSIONS) | (mode & PERMISSIONS);
}

/** The names of a path. `/base//5/` and `base/5` are the same place; there are no `.` or `..`. */
export function splitPath(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

/** @throws StoreError ENOENT, or ENOTDIR when a file stands where a directory is needed. */
export function walk(root: DirectoryNode, path: string): Node {
  let node: Node = root;
  for (const name of splitPath(path)) {
    if (node.kind !== 'directory') throw new StoreError('ENOTDIR', path);
    const child = node.children.get(name);
    if (child === undefined) throw new StoreError('ENOENT', path);
    node = child;
  }
  return node;
}

/** Finds the directory that holds, or would hold, the path's last name. */
export function findPlace(root: DirectoryNode, path: string): Place {
  const names = splitPath(path);
  const name = names.pop();
  if (name === undefined) throw new StoreError('EINVAL', `${path || '/'} is the root`);
  const directory = walk(root, names.join('/'));
  if (directory.kind !== 'directory') throw new StoreError('ENOTDIR', path);
  return { directory, name, node: directory.children.get(name) };
}

/** A copy of the tree whose files share their bytes until one side writes. */
export function copyTree(directory: DirectoryNode): DirectoryNode {
  const children = new Map<string, Node>();
  for (const [name, child] of directory.children) {
    children.set(name, child.kind === 'directory' ? copyTree(child) : copyFile(child));
  }
  return { ...directory, children };
}

function copyFile(file: FileNode): FileNode {
  return { ...file, content: file.content.clone(), handles: 0 };
}
