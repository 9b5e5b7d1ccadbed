/** The imports of `pglite.wasm` that the engine answers itself. */
import type { EngineCode } from './code.ts';
import { dateNow, type Clock } from './clock.ts';
import { jspi } from './jspi.ts';
import type { LinearMemory } from './memory.ts';
import type { PostgresExports } from './postgresModule.ts';
import { HOOK } from './wasm/patch.ts';
import type { InvokeImports } from './wasm/invoke.ts';

/** What the imports ask of the backend that they belong to. */
export interface ImportsOwner {
  readonly clock: Clock;
  readonly memory: LinearMemory;
  /** Fills a buffer with random bytes (`random_get`: seeds, cancel keys). */
  readonly random: (into: Uint8Array) => void;
  /** Bytes that the heap may grow to. */
  readonly memoryLimit: number;
  waitLatch(latch: number, events: number, timeoutMs: number, waitEvent: number): number | Promise<number>;
  kill(pid: number, signal: number): number;
  setTimer(delayMs: number): void;
  onMap(start: number, size: number): void;
  onShmemExit(): void;
  onOpen(path: string): void;
}

type Import = (...args: number[]) => number | undefined;
type Imports = Record<string, WebAssembly.ImportValue>;

/**
 * Replaces what has to be replaced in Emscripten's import object. Side modules
 * (plpgsql) resolve their imports in the same object, so they get these, too.
 */
export function installImports(
  env: Imports,
  code: EngineCode,
  exports: () => PostgresExports,
  owner: ImportsOwner,
): void {
  const table = unlistedTable(code.tableSize);
  const longjmp = new jspi.Tag({ parameters: [] });
  Object.assign(
    env,
    invokeFunctions(code, exports, table, longjmp),
    { [HOOK.table]: table, _emscripten_throw_longjmp: () => throwLongjmp(longjmp) },
    waitingImports(exports, owner),
    timeImports(owner),
    landmarkImports(env, owner),
    { emscripten_resize_heap: limitHeap(original(env, 'emscripten_resize_heap'), owner.memoryLimit) },
  );
}

/**
 * A function table whose first listing, entry by entry from 0, comes up empty.
 * The glue lists it at the first addFunction() to learn which functions have a
 * slot already, and so makes an object of each of the seven thousand. What gets
 * a second slot for that, the functions that plpgsql calls through PG_TRY, is
 * called by its address and never compared.
 */
function unlistedTable(size: number): WebAssembly.Table {
  const table = new WebAssembly.Table({ element: 'anyfunc', initial: size });
  let next = 0;
  const get = (index: number): unknown => {
    if (next === size || index !== next) return WebAssembly.Table.prototype.get.call(table, index) as unknown;
    next += 1;
    return null;
  };
  return Object.assign(table, { get });
}

function original(env: Imports, name: string): Import {
  const found = env[name];
  if (typeof found !== 'function') throw new Error(`no import ${name} in Emscripten's glue`);
  return found as Import;
}

function throwLongjmp(tag: WebAssembly.Tag): never {
  throw new jspi.Exception(tag, []);
}

function invokeFunctions(
  code: EngineCode,
  exports: () => PostgresExports,
  table: WebAssembly.Table,
  longjmp: WebAssembly.Tag,
): WebAssembly.Exports {
  const env: InvokeImports = {
    stackSave: () => exports().emscripten_stack_get_current(),
    stackRestore: (pointer) => exports()._emscripten_stack_restore(pointer),
    setThrew: (threw, value) => exports().setThrew(threw, value),
    table,
    longjmp,
  };
  return new WebAssembly.Instance(code.invoke, { env: { ...env } as unknown as WebAssembly.ModuleImports }).exports;
}

/** "No such process", as musl numbers it for WebAssembly. */
const ESRCH = 71;

function waitingImports(exports: () => PostgresExports, owner: ImportsOwner): Imports {
  return {
    [HOOK.waitLatch]: new jspi.Suspending((latch = 0, events = 0, timeout = -1, waitEvent = 0) =>
      owner.waitLatch(latch, events, timeout, waitEvent),
    ),
    [HOOK.kill]: (pid: number, signal: number) => {
      const result = owner.kill(pid, signal);
      if (result !== 0) owner.memory.setWord(exports().__errno_location(), ESRCH);
      return result;
    },
  };
}

function timeImports(owner: ImportsOwner): Imports {
  const { clock } = owner;
  return {
    _setitimer_js: (_which: number, delayMs: number) => {
      owner.setTimer(delayMs);
      return 0;
    },
    emscripten_get_now: () => clock.now() / 1000,
    emscripten_date_now: () => dateNow(clock),
    clock_time_get: (_clock: number, _precision: bigint, address: number) => {
      writeNanoseconds(owner.memory, address, BigInt(Math.round(clock.epochMs * 1000) + clock.now()) * 1000n);
      return 0;
    },
    random_get: (address: number, size: number) => {
      owner.random(owner.memory.bytes.subarray(address, address + size));
      return 0;
    },
  };
}

function writeNanoseconds({ bytes }: LinearMemory, address: number, value: bigint): void {
  new DataView(bytes.buffer).setBigUint64(address, value, true);
}

function landmarkImports(env: Imports, owner: ImportsOwner): Imports {
  const open = original(env, '__syscall_openat');
  const map = original(env, '_mmap_js');
  return {
    [HOOK.onShmemExit]: () => {
      owner.onShmemExit();
      return 0;
    },
    __syscall_openat: (...args: number[]) => {
      owner.onOpen(owner.memory.cString(args[1] ?? 0));
      return open(...args);
    },
    _mmap_js: (...args: number[]) => {
      const result = map(...args);
      owner.onMap(owner.memory.getWord(args[6] ?? 0), args[0] ?? 0);
      return result;
    },
  };
}

/** A heap that cannot grow makes malloc() return NULL, which Postgres reports as 53200 (out of memory). */
function limitHeap(resize: Import, limit: number): Import {
  return (size = 0) => (size >>> 0 > limit ? 0 : resize(size));
}
