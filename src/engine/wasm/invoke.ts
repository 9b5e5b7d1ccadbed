/**
 * The `invoke_*` functions, made of WASM.
 *
 * Emscripten implements setjmp/longjmp with JS: each `invoke_*` import calls back
 * into the table inside `try/catch`. JSPI cannot suspend through such a JS frame,
 * and Postgres has one on its stack wherever it uses PG_TRY. These do the same
 * work (see `invoke_*` and `_emscripten_throw_longjmp` in Emscripten's glue)
 * without leaving WASM, and catch only the longjmp tag.
 */
import { F32, F64, I32, I64, name, section, u32, vector } from './binary.ts';
import type { FunctionType, ParsedModule } from './module.ts';
import { HEADER } from './binary.ts';

/** Imports of the invoke module, all from module `env`. */
export interface InvokeImports {
  readonly stackSave: () => number;
  readonly stackRestore: (pointer: number) => void;
  readonly setThrew: (threw: number, value: number) => void;
  readonly table: WebAssembly.Table;
  readonly longjmp: WebAssembly.Tag;
}

const OP = {
  try: 0x06,
  catch: 0x07,
  end: 0x0b,
  call: 0x10,
  callIndirect: 0x11,
  localGet: 0x20,
  localSet: 0x21,
  i32Const: 0x41,
} as const;
const ZERO: ReadonlyMap<number, readonly number[]> = new Map([
  [I32, [OP.i32Const, 0]],
  [I64, [0x42, 0]],
  [F32, [0x43, 0, 0, 0, 0]],
  [F64, [0x44, 0, 0, 0, 0, 0, 0, 0, 0]],
]);
const EMPTY_BLOCK = 0x40;

/** Function indices of the imports, in the order of `importSection`. */
const STACK_SAVE = 0;
const STACK_RESTORE = 1;
const SET_THREW = 2;
const FIRST_INVOKE = 3;

/** One function for every `invoke_*` that `module` imports, exported under the same name. */
export function buildInvokeModule(module: ParsedModule): Uint8Array<ArrayBuffer> {
  const invokes = module.functionImports
    .filter((i) => i.name.startsWith('invoke_'))
    .map((i) => ({ name: i.name, type: typeAt(module, i.type) }));
  const helperTypes = [encodeType([], [I32]), encodeType([I32], []), encodeType([I32, I32], []), encodeType([], [])];
  const types = [...helperTypes];
  const plans = invokes.map(({ name, type }) => {
    const own = types.push(encodeType(type.params, type.results)) - 1;
    const callee = types.push(encodeType(type.params.slice(1), type.results)) - 1;
    return { name, type, own, callee };
  });
  return Uint8Array.from([
    ...HEADER,
    ...section(1, vector(types)),
    ...section(2, importSection()),
    ...section(3, vector(plans.map((plan) => u32(plan.own)))),
    ...section(7, vector(plans.map((plan, index) => [...name(plan.name), 0, ...u32(FIRST_INVOKE + index)]))),
    ...section(10, vector(plans.map((plan) => sized(invokeBody(plan.type, plan.callee))))),
  ]);
}

function typeAt(module: ParsedModule, index: number): FunctionType {
  const type = module.types[index];
  if (type === undefined) throw new Error(`type ${index} of ${module.types.length}`);
  return type;
}

function encodeType(params: readonly number[], results: readonly number[]): number[] {
  return [0x60, ...u32(params.length), ...params, ...u32(results.length), ...results];
}

function importSection(): number[] {
  const from = (field: string, ...description: number[]): number[] => [...name('env'), ...name(field), ...description];
  return vector([
    from('stackSave', 0, 0),
    from('stackRestore', 0, 1),
    from('setThrew', 0, 2),
    from('table', 1, 0x70, 0, 0),
    from('longjmp', 4, 0, 3),
  ]);
}

function sized(body: readonly number[]): number[] {
  return [...u32(body.length), ...body];
}

/** `sp = stackSave(); try { return table[p0](p1...) } catch (longjmp) { stackRestore(sp); setThrew(1, 0); return 0 }` */
function invokeBody(type: FunctionType, callee: number): number[] {
  const saved = u32(type.params.length);
  const args = type.params.slice(1).flatMap((_, index) => [OP.localGet, ...u32(index + 1)]);
  const result = type.results[0];
  return [
    ...[1, 1, I32],
    ...[OP.call, STACK_SAVE, OP.localSet, ...saved],
    ...[OP.try, result ?? EMPTY_BLOCK],
    ...args,
    ...[OP.localGet, 0, OP.callIndirect, ...u32(callee), 0],
    ...[OP.catch, 0],
    ...[OP.localGet, ...saved, OP.call, STACK_RESTORE],
    ...[OP.i32Const, 1, OP.i32Const, 0, OP.call, SET_THREW],
    ...(result === undefined ? [] : (ZERO.get(result) ?? [])),
    ...[OP.end, OP.end],
  ];
}
