/** PGlite's Emscripten module and WASM exports, as far as the engine uses them. */

/** What Emscripten's glue offers (PGlite types it by a package that it does not ship). */
export interface PostgresModule {
  addFunction(fn: (...args: number[]) => number | undefined, signature: string): number;
  stackSave(): number;
  stackRestore(pointer: number): void;
  onRuntimeInitialized?: () => void;
  _pgl_set_rw_cbs(read: number, write: number): void;
  _pq_buffer_remaining_data(): number;
  _PostgresSendReadyForQueryIfNecessary(): void;
  _pgl_pq_flush(): void;
  readonly HEAPU8: Uint8Array;
  /** Address of `errno`. */
  ___errno_location(): number;
}

/** Exported C variables, by address. */
export interface PostgresVariables {
  readonly MyProc: WebAssembly.Global;
  readonly MyProcPid: WebAssembly.Global;
  readonly MyLatch: WebAssembly.Global;
  readonly MainLWLockArray: WebAssembly.Global;
  readonly IsUnderPostmaster: WebAssembly.Global;
  readonly InterruptPending: WebAssembly.Global;
  readonly QueryCancelPending: WebAssembly.Global;
  readonly ProcDiePending: WebAssembly.Global;
  readonly shmem_startup_hook: WebAssembly.Global;
}

export interface PostgresExports extends PostgresVariables {
  PostgresMainLoopOnce(): void;
  PostgresMainLongJmp(): void;
  /** The handler of SIGALRM: `which` timer, and the time in milliseconds. */
  _emscripten_timeout(which: number, nowMs: number): void;
  procsignal_sigusr1_handler(signal: number): void;
  emscripten_stack_get_current(): number;
  _emscripten_stack_restore(pointer: number): void;
  setThrew(threw: number, value: number): void;
  /** Address of `errno`. */
  __errno_location(): number;
}

const REQUIRED: readonly (keyof PostgresExports)[] = [
  'MyProc',
  'MyProcPid',
  'MyLatch',
  'MainLWLockArray',
  'IsUnderPostmaster',
  'InterruptPending',
  'QueryCancelPending',
  'ProcDiePending',
  'shmem_startup_hook',
  'PostgresMainLoopOnce',
  'PostgresMainLongJmp',
  '_emscripten_timeout',
  'procsignal_sigusr1_handler',
  'emscripten_stack_get_current',
  '_emscripten_stack_restore',
  'setThrew',
  '__errno_location',
];

/** Names of required exports that `module` lacks. */
export function findMissingExports(module: WebAssembly.Module): string[] {
  const exported = new Set(WebAssembly.Module.exports(module).map((entry) => entry.name));
  return REQUIRED.filter((name) => !exported.has(name));
}
