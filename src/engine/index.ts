export { openCluster } from './open.ts';
export { openClusterFrom, type OpenOptions } from './cluster.ts';
export { connectCluster } from './remote.ts';
export { DatabaseError, EngineError, type DatabaseErrorFields, type EngineErrorCode } from './errors.ts';
export { hasJspi, requireJspi } from './support.ts';
export type { EngineAssets } from './assets/types.ts';
export type * from './types.ts';
