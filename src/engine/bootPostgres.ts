/** Starts one PGlite instance with the engine's imports in place. */
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { exitStatus, type Backend, type BackendHost, type BackendParts } from './backend.ts';
import { speedUpFiles, type FileModule } from './bundleFiles.ts';
import { EngineError } from './errors.ts';
import { installImports, type ImportsOwner } from './imports.ts';
import { LinearMemory } from './memory.ts';
import type { PostgresExports, PostgresModule } from './postgresModule.ts';
import { quietExports } from './quietExports.ts';
import { replaceRandomDevices, type DeviceModule } from './randomDevice.ts';
import { ServerLog } from './serverLog.ts';
import type { SessionFilesystem } from './store/index.ts';

class EnginePGlite extends PGlite {
  /** Not needed, since values are parsed by `pg-types`: a query for the types of arrays. */
  override async _initArrayTypes(): Promise<void> {}

  /** The answer of popen() when it fails. PGlite's would throw right through Postgres. */
  override handleExternalCmd(command: string, mode: string): number {
    if (command.startsWith('locale -a')) return super.handleExternalCmd(command, mode);
    const { HEAPU8, ___errno_location: errno } = this.Module as unknown as PostgresModule;
    HEAPU8.set([EPERM, 0, 0, 0], errno());
    return 0;
  }
}

/** "Operation not permitted", as musl numbers it for WebAssembly. */
const EPERM = 63;

type EmscriptenOptions = Awaited<ReturnType<SessionFilesystem['init']>>['emscriptenOpts'];
type Boot = (parts: BackendParts) => Backend;
type MakeBackend = (parts: Omit<BackendParts, 'log'>) => Backend;

/** Given so that PGlite does not fetch initdb's: the store holds a cluster already. */
const noInitdb = new WebAssembly.Module(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));

/**
 * @throws EngineError CLUSTER_FAILED with what Postgres printed, when it refuses
 *   to start (a setting that it does not know, say), or INCOMPATIBLE_PGLITE.
 */
export async function bootPostgres(host: BackendHost, files: SessionFilesystem, make: Boot): Promise<Backend> {
  const log = new ServerLog();
  const hooked = hookImports(host, files, (parts) => make({ ...parts, log }));
  const pg = new EnginePGlite(optionsFor(host, files, (text) => log.add(text)));
  try {
    // A hook that fails leaves PGlite waiting for an instance that never comes.
    await Promise.race([pg.waitReady, hooked.failed]);
  } catch (error) {
    throw explainRefusal(error, log.complaints);
  }
  const backend = hooked.backend();
  backend.started();
  return backend;
}

function optionsFor(host: BackendHost, files: SessionFilesystem, onStderr: (text: string) => void): PGliteOptions {
  return {
    fs: files,
    pgliteWasmModule: host.code.postgres,
    initdbWasmModule: noInitdb,
    fsBundle: { arrayBuffer: async () => host.bundle } as Blob,
    startParams: [...host.startParams],
    onStderr: (text: string) => {
      onStderr(text);
      return false;
    },
  } as PGliteOptions;
}

interface Hooked {
  readonly backend: () => Backend;
  readonly failed: Promise<never>;
}

/** Amends what PGlite hands to Emscripten, through the one public place for it: `Filesystem.init`. */
function hookImports(host: BackendHost, files: SessionFilesystem, make: MakeBackend): Hooked {
  let backend: Backend | undefined;
  let exports: PostgresExports | undefined;
  const failed = Promise.withResolvers<never>();
  const init = files.init.bind(files);
  files.init = async (pg, given) => {
    const { emscriptenOpts: options } = await init(pg, given);
    const memory = new LinearMemory(options.wasmMemory as WebAssembly.Memory);
    const instantiate = async (imports: WebAssembly.Imports): Promise<WebAssembly.Instance> => {
      installImports(
        imports['env'] as Imports,
        host.code,
        () => exports as PostgresExports,
        ownerOf(host, memory, () => backend),
      );
      const instance = await WebAssembly.instantiate(host.code.postgres, imports);
      exports = instance.exports as unknown as PostgresExports;
      return instance;
    };
    const atRuntime = (module: PostgresModule): void => {
      backend = make({ memory, exports: exports as PostgresExports, module });
      placeStartupHook(backend, module);
    };
    return { emscriptenOpts: { ...options, ...hooks(host, options, instantiate, atRuntime, failed.reject) } };
  };
  return { backend: () => backend as Backend, failed: failed.promise };
}

type Imports = Record<string, WebAssembly.ImportValue>;
type Hooks = Pick<EmscriptenOptions, 'preRun' | 'instantiateWasm'>;

function hooks(
  host: BackendHost,
  options: EmscriptenOptions,
  instantiate: (imports: WebAssembly.Imports) => Promise<WebAssembly.Instance>,
  atRuntime: (module: PostgresModule) => void,
  fail: (error: unknown) => void,
): Hooks {
  return {
    instantiateWasm: (
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) => {
      instantiate(imports)
        .then(({ exports }) => {
          const quiet = { exports: quietExports(exports, imports['env'] as object) };
          done(quiet as WebAssembly.Instance, host.code.postgres);
        })
        .catch(fail);
      return {};
    },
    preRun: [
      ...(options.preRun ?? []),
      (module: PostgresModule & FileModule & DeviceModule) => {
        replaceRandomDevices(module, host.random);
        speedUpFiles(module);
        afterRuntimeInit(module, atRuntime);
      },
    ],
  } as unknown as Hooks;
}

function afterRuntimeInit(module: PostgresModule, then: (module: PostgresModule) => void): void {
  const before = module.onRuntimeInitialized;
  module.onRuntimeInitialized = () => {
    before?.();
    then(module);
  };
}

/** `shmem_startup_hook` is a function pointer of Postgres' for loadable modules. */
function placeStartupHook(backend: Backend, module: PostgresModule): void {
  const hook = module.addFunction(() => {
    backend.landmarks.onShmemStartup();
    return undefined;
  }, 'v');
  backend.memory.setWord(backend.variables.shmem_startup_hook.value as number, hook);
}

/** The imports exist before the backend does; what they ask before that has no answer yet. */
function ownerOf(host: BackendHost, memory: LinearMemory, backend: () => Backend | undefined): ImportsOwner {
  return {
    clock: host.clock,
    memory,
    random: host.random,
    memoryLimit: host.memoryLimit,
    waitLatch: (...args) => backend()?.waitLatch(...args) ?? 0,
    kill: (pid, signal) => backend()?.kill(pid, signal) ?? -1,
    setTimer: (delay) => backend()?.setTimer(delay),
    onMap: (start, size) => backend()?.landmarks.onMap(start, size),
    onShmemExit: () => backend()?.landmarks.onShmemExit(),
    onOpen: (path) => backend()?.landmarks.onOpen(path),
  };
}

function explainRefusal(error: unknown, complaints: string): Error {
  if (error instanceof EngineError) return error;
  const reason = complaints || explain(error);
  return new EngineError('CLUSTER_FAILED', `Postgres did not start: ${reason}`, { cause: error });
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return `exit status ${exitStatus(error) ?? 'unknown'}`;
  // A start is one call into WebAssembly, which cannot be suspended.
  if (error.name !== 'SuspendError') return error.message;
  return 'the session has to wait for a lock on a catalog. Open all sessions before one of them takes such a lock';
}
