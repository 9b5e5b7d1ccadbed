/** PGlite's code, patched and compiled once for all backends of a cluster. */
import { EngineError } from './errors.ts';
import { PGLITE_VERSION } from './assets/types.ts';
import { buildInvokeModule } from './wasm/invoke.ts';
import { patchPostgres } from './wasm/patch.ts';

export interface EngineCode {
  readonly postgres: WebAssembly.Module;
  /** The `invoke_*` functions (see `wasm/invoke.ts`). */
  readonly invoke: WebAssembly.Module;
  /** Initial size of the function table. */
  readonly tableSize: number;
}

/**
 * @throws EngineError INCOMPATIBLE_PGLITE when `wasm` is not the pinned build.
 */
export async function compileCode(wasm: Uint8Array): Promise<EngineCode> {
  const { bytes, tableSize, parsed } = patchOrRefuse(wasm);
  const [postgres, invoke] = await Promise.all([
    WebAssembly.compile(bytes),
    WebAssembly.compile(buildInvokeModule(parsed)),
  ]);
  return { postgres, invoke, tableSize };
}

function patchOrRefuse(wasm: Uint8Array): ReturnType<typeof patchPostgres> {
  try {
    return patchPostgres(wasm);
  } catch (error) {
    throw incompatible(error instanceof Error ? error.message : String(error), error);
  }
}

/** The error for a constant of the pinned build that did not hold. `found` completes "found ...". */
export function incompatible(found: string, cause?: unknown): EngineError {
  return new EngineError(
    'INCOMPATIBLE_PGLITE',
    `The engine is written for @electric-sql/pglite ${PGLITE_VERSION}, and this build differs: found ${found}. ` +
      `Install exactly ${PGLITE_VERSION}; another version needs its constants checked first.`,
    { cause },
  );
}
