export { ERRNO, StoreError, type ErrnoName } from './errno.ts';
export { SessionFilesystem } from './filesystem.ts';
export { Image } from './image.ts';
export { Store, type Stat, type StoreOptions } from './store.ts';
