/**
 * Edits `pglite.wasm` so that a session can wait: a few changes, none of which
 * moves a function index. Every place is found by name or by its code, so a
 * build that differs is refused here rather than run wrongly.
 */
import { Reader, SECTION, concat, name, s32, u32 } from './binary.ts';
import { findSection, parseModule, type ParsedModule, type Section } from './module.ts';

/** Imports that PGlite's build declares and never needs: it has no sockets. The patched functions call them. */
export const HOOK = {
  /** `WaitLatch(latch, events, timeout, wait_event_info)`: the suspending import. */
  waitLatch: '__syscall_connect',
  /** `kill(pid, signal)`; an ordinary import, since signal handlers run outside promising calls. */
  kill: '__syscall_listen',
  /** Called at each entry of `on_shmem_exit`: a landmark during start-up. */
  onShmemExit: '__syscall_accept4',
  /** The function table, defined by the module itself until patched. */
  table: 'oversold_table',
} as const;

export interface PatchedModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Initial size of the function table, which the embedder now makes. */
  readonly tableSize: number;
  readonly parsed: ParsedModule;
}

const OP = {
  end: 0x0b,
  call: 0x10,
  drop: 0x1a,
  localGet: 0x20,
  i32Const: 0x41,
  equal: 0x46,
  notEqual: 0x47,
} as const;

/**
 * @throws Error that says which place was not found, for a build other than the pinned one.
 */
export function patchPostgres(bytes: Uint8Array): PatchedModule {
  const parsed = parseModule(acceptAnyPid(parseModule(bytes)));
  const table = readTable(parsed);
  const bodies = new Map([
    [definedFunction(parsed, 'WaitLatch'), () => forwardTo(parsed, HOOK.waitLatch, [0, 1, 2, 3])],
    [findKill(parsed), () => forwardTo(parsed, HOOK.kill, [0, 1])],
    [definedFunction(parsed, 'on_shmem_exit'), (old: Uint8Array) => callFirst(parsed, HOOK.onShmemExit, old)],
  ]);
  const parts = parsed.sections.flatMap((section) => {
    if (section.id === SECTION.import) return [withTableImport(parsed, section, table.declaration)];
    if (section.id === SECTION.table) return [];
    if (section.id === SECTION.code) return [replaceBodies(parsed, section, bodies)];
    return [parsed.bytes.subarray(section.start, section.end)];
  });
  return { bytes: concat([bytes.subarray(0, 8), ...parts]), tableSize: table.min, parsed };
}

/** The declaration of the module's one table, and its initial size. */
function readTable(parsed: ParsedModule): { declaration: Uint8Array; min: number } {
  const section = findSection(parsed.sections, SECTION.table);
  const reader = new Reader(parsed.bytes, section.body);
  const count = reader.u32();
  if (count !== 1) throw new Error(`${count} tables where 1 was expected`);
  const declaration = parsed.bytes.subarray(reader.at, section.end);
  reader.byte();
  return { declaration, min: reader.limits().min };
}

/** Index, among the functions that the module defines, of an exported one. */
function definedFunction(parsed: ParsedModule, exported: string): number {
  const index = parsed.exportedFunctions.get(exported);
  if (index === undefined) throw new Error(`no exported function ${exported}`);
  return index - parsed.functionImports.length;
}

function importIndex(parsed: ParsedModule, imported: string): number {
  const found = parsed.functionImports.find((i) => i.name === imported);
  if (found === undefined) throw new Error(`no imported function ${imported}`);
  return found.index;
}

function parameterCount(parsed: ParsedModule, imported: string): number {
  const found = parsed.functionImports.find((i) => i.name === imported);
  return parsed.types[found?.type ?? -1]?.params.length ?? 0;
}

/** A body that returns `imported(locals..., 0, 0, ...)`. */
function forwardTo(parsed: ParsedModule, imported: string, locals: readonly number[]): Uint8Array {
  return Uint8Array.from([0, ...callWith(parsed, imported, locals), OP.end]);
}

function callWith(parsed: ParsedModule, imported: string, locals: readonly number[]): number[] {
  const padding = parameterCount(parsed, imported) - locals.length;
  return [
    ...locals.flatMap((local) => [OP.localGet, ...u32(local)]),
    ...Array.from({ length: padding }, () => [OP.i32Const, 0]).flat(),
    ...[OP.call, ...u32(importIndex(parsed, imported))],
  ];
}

/** The old body behind a call of `imported`, whose result is dropped. */
function callFirst(parsed: ParsedModule, imported: string, old: Uint8Array): Uint8Array {
  const reader = new Reader(old, 0);
  reader.vector((r) => [r.u32(), r.byte()]);
  const call = Uint8Array.from([...callWith(parsed, imported, []), OP.drop]);
  return concat([old.subarray(0, reader.at), call, old.subarray(reader.at)]);
}

/**
 * musl's `kill` in Emscripten is not exported. It is the one function
 * `(i32, i32) -> i32` that begins `if (p0 == 42) return raise(p1)`: 42 is what
 * Emscripten's getpid() answers.
 */
function findKill(parsed: ParsedModule): number {
  const head = [0x00, OP.localGet, 0, OP.i32Const, GETPID, 0x46, 0x04, 0x40, OP.localGet, 1, OP.call];
  const found: number[] = [];
  eachBody(parsed, ({ index, start, end }) => {
    if (end - start >= 40 || head.some((byte, at) => parsed.bytes[start + at] !== byte)) return;
    const type = parsed.types[parsed.functionTypes[index] ?? -1];
    if (type?.params.length === 2 && type.results.length === 1) found.push(index);
  });
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${found.length} functions look like kill() where 1 was expected`);
  return only;
}

/** Where the code of one function lies: from its size field, from its locals, to its end. */
interface Body {
  readonly index: number;
  readonly sizeAt: number;
  readonly start: number;
  readonly end: number;
}

function eachBody(parsed: ParsedModule, visit: (body: Body) => void): void {
  const reader = new Reader(parsed.bytes, findSection(parsed.sections, SECTION.code).body);
  const count = reader.u32();
  for (let index = 0; index < count; index++) {
    const sizeAt = reader.at;
    const size = reader.u32();
    visit({ index, sizeAt, start: reader.at, end: reader.at + size });
    reader.at += size;
  }
}

/**
 * Emscripten's getpid() is the constant 42, inlined. Postgres compares it with
 * MyProcPid and MyProc->pid to notice a forked child (proc_exit, ProcKill,
 * AuxiliaryProcKill and pqsignal.c's wrapper_handler). Sessions have pids of
 * their own, so those four comparisons become constants: "it is me".
 */
function acceptAnyPid(parsed: ParsedModule): Uint8Array {
  // Not slice(): a Buffer's would be the same bytes, not a copy.
  const bytes = Uint8Array.from(parsed.bytes);
  const places = [
    ...findPidChecks(parsed, [OP.i32Const, ...s32(addressOf(parsed, 'MyProcPid')), ...LOAD_FIRST]),
    ...findPidChecks(parsed, [OP.i32Const, ...s32(addressOf(parsed, 'MyProc')), ...LOAD_FIRST, ...LOAD_PID]),
  ];
  if (places.length !== PID_CHECKS)
    throw new Error(`${places.length} checks of getpid() where ${PID_CHECKS} were expected`);
  for (const { at, operator } of places) bytes.set([OP.drop, OP.i32Const, operator === OP.equal ? 1 : 0], at);
  return bytes;
}

const PID_CHECKS = 4;
/** What Emscripten's getpid() answers. */
export const GETPID = 42;
const LOAD_FIRST = [0x28, 2, 0];
/** `offsetof(PGPROC, pid)` of the pinned build. */
const LOAD_PID = [0x28, 2, 0x2c];

/** Where `load == 42` or `load != 42` stands: the place of the constant. */
function findPidChecks(parsed: ParsedModule, load: readonly number[]): { at: number; operator: number }[] {
  const { bytes } = parsed;
  const { body, end } = findSection(parsed.sections, SECTION.code);
  const pattern = [...load, OP.i32Const, GETPID];
  const found: { at: number; operator: number }[] = [];
  for (let at = bytes.indexOf(GETPID, body); at !== -1 && at < end; at = bytes.indexOf(GETPID, at + 1)) {
    const start = at + 1 - pattern.length;
    const operator = bytes[at + 1];
    if (operator !== OP.equal && operator !== OP.notEqual) continue;
    if (pattern.every((byte, offset) => bytes[start + offset] === byte)) found.push({ at: at - 1, operator });
  }
  return found;
}

function addressOf(parsed: ParsedModule, variable: string): number {
  const address = parsed.exportedAddresses.get(variable);
  if (address === undefined) throw new Error(`no exported variable ${variable}`);
  return address;
}

type Edit = (old: Uint8Array) => Uint8Array;

function replaceBodies(parsed: ParsedModule, code: Section, edits: ReadonlyMap<number, Edit>): Uint8Array {
  const { bytes } = parsed;
  const parts: Uint8Array[] = [];
  let copied = code.body;
  let left = edits.size;
  eachBody(parsed, ({ index, sizeAt, start, end }) => {
    const edit = edits.get(index);
    if (edit === undefined) return;
    const body = edit(bytes.subarray(start, end));
    parts.push(bytes.subarray(copied, sizeAt), Uint8Array.from(u32(body.length)), body);
    copied = end;
    left -= 1;
  });
  if (left !== 0) throw new Error(`${left} functions to patch are not defined by the module`);
  parts.push(bytes.subarray(copied, code.end));
  return sectionOf(SECTION.code, concat(parts));
}

function withTableImport(parsed: ParsedModule, imports: Section, declaration: Uint8Array): Uint8Array {
  const reader = new Reader(parsed.bytes, imports.body);
  const count = reader.u32();
  const rest = parsed.bytes.subarray(reader.at, imports.end);
  const table = Uint8Array.from([...name('env'), ...name(HOOK.table), 1, ...declaration]);
  return sectionOf(SECTION.import, concat([Uint8Array.from(u32(count + 1)), rest, table]));
}

function sectionOf(id: number, body: Uint8Array): Uint8Array {
  return concat([Uint8Array.from([id, ...u32(body.length)]), body]);
}
