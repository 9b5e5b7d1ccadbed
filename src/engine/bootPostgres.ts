/** Starts one PGlite instance with the engine's imports in place. */
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { exitStatus, type Backend, type BackendHost, type BackendParts } from './backend.ts';
import { speedUpFiles, type FileModule } from './bundleFiles.ts';
import { EngineError } from './errors.ts';
import { installImports, type ImportsOwner } from './imports.ts';
import { LinearMemory } from './memory.ts';
import type { PostgresExports, PostgresModule } from './postgresModule.ts';
import { quietExports } from './quietExports.ts';
import type { SessionFilesystem } from './store/index.ts';

/** PGlite without the query that it runs at its start to learn array types: values are parsed by `pg-types`. */
class SilentPGlite extends PGlite {
  override async _initArrayTypes(): Promise<void> {}
}

type EmscriptenOptions = Awaited<ReturnType<SessionFilesystem['init']>>['emscriptenOpts'];
type Boot = (parts: BackendParts) => Backend;

/** Given so that PGlite does not fetch initdb's: the store holds a cluster already. */
const noInitdb = new WebAssembly.Module(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
const MESSAGES_KEPT = 20;

/**
 * @throws EngineError CLUSTER_FAILED with what Postgres printed, when it refuses
 *   to start (a setting that it does not know, say), or INCOMPATIBLE_PGLITE.
 */
export async function bootPostgres(host: BackendHost, files: SessionFilesystem, make: Boot): Promise<Backend> {
  const messages: string[] = [];
  const hooked = hookImports(host, files, make);
  const pg = new SilentPGlite(optionsFor(host, files, (text) => messages.push(text)));
  try {
    // A hook that fails leaves PGlite waiting for an instance that never comes.
    await Promise.race([pg.waitReady, hooked.failed]);
  } catch (error) {
    throw explainRefusal(error, messages.slice(-MESSAGES_KEPT));
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
function hookImports(host: BackendHost, files: SessionFilesystem, make: Boot): Hooked {
  let backend: Backend | undefined;
  let exports: PostgresExports | undefined;
  const failed = Promise.withResolvers<never>();
  const init = files.init.bind(files);
  files.init = async (pg, given) => {
    const { emscriptenOpts: options } = await init(pg, given);
    const memory = new LinearMemory(options.wasmMemory as WebAssembly.Memory);
    const instantiate = async (imports: WebAssembly.Imports): Promise<WebAssembly.Instance> => {
      installImports(imports['env'] as Imports, host.code, () => exports as PostgresExports, ownerOf(host, memory, () => backend));
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
    instantiateWasm: (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) => {
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
      (module: PostgresModule & FileModule) => {
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

function explainRefusal(error: unknown, messages: readonly string[]): Error {
  if (error instanceof EngineError) return error;
  const refusal = messages.filter((text) => /FATAL|PANIC|ERROR|HINT|DETAIL/.test(text)).join(' ');
  const status = exitStatus(error);
  const reason = refusal || (error instanceof Error ? error.message : `exit status ${status ?? 'unknown'}`);
  return new EngineError('CLUSTER_FAILED', `Postgres did not start: ${reason}`, { cause: error });
}
