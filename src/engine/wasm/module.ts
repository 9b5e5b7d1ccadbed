/** What a WebAssembly binary declares: types, imports, exports and where its sections lie. */
import { HEADER, Reader, SECTION } from './binary.ts';

export interface FunctionType {
  readonly params: readonly number[];
  readonly results: readonly number[];
}

export interface FunctionImport {
  readonly module: string;
  readonly name: string;
  /** Index into `types`. */
  readonly type: number;
  /** Index in the function index space. */
  readonly index: number;
}

export interface Section {
  readonly id: number;
  /** From the id byte. */
  readonly start: number;
  /** From the first byte of the contents. */
  readonly body: number;
  readonly end: number;
}

export interface ParsedModule {
  readonly bytes: Uint8Array;
  readonly sections: readonly Section[];
  readonly types: readonly FunctionType[];
  readonly functionImports: readonly FunctionImport[];
  /** Type index of each function that the module defines. */
  readonly functionTypes: readonly number[];
  /** Function index of each exported function. */
  readonly exportedFunctions: ReadonlyMap<string, number>;
  /** Value of each exported constant global: the address of a C variable. */
  readonly exportedAddresses: ReadonlyMap<string, number>;
}

/**
 * Reads the declarations of a module; code stays where it is.
 *
 * @throws Error when the bytes are no WebAssembly module or use a form that PGlite's build never had.
 */
export function parseModule(bytes: Uint8Array): ParsedModule {
  if (HEADER.some((byte, index) => bytes[index] !== byte)) {
    throw new Error(`not a WebAssembly module: it begins with bytes ${[...bytes.subarray(0, 8)].join(' ')}`);
  }
  const sections = readSections(bytes);
  const read = <T>(id: number, reader: (r: Reader) => T): T =>
    reader(new Reader(bytes, findSection(sections, id).body));
  return {
    bytes,
    sections,
    types: read(SECTION.type, (r) => r.vector(readFunctionType)),
    functionImports: read(SECTION.import, readFunctionImports),
    functionTypes: read(SECTION.function, (r) => r.vector((r) => r.u32())),
    exportedFunctions: read(SECTION.export, (r) => readExports(r, EXPORT.function)),
    exportedAddresses: readAddresses(
      read(SECTION.global, (r) => r.vector(readGlobal)),
      read(SECTION.export, (r) => readExports(r, EXPORT.global)),
    ),
  };
}

export function findSection(sections: readonly Section[], id: number): Section {
  const found = sections.find((section) => section.id === id);
  if (found === undefined) throw new Error(`WebAssembly module without a section ${id}`);
  return found;
}

function readSections(bytes: Uint8Array): Section[] {
  const sections: Section[] = [];
  const reader = new Reader(bytes, HEADER.length);
  while (reader.at < bytes.length) {
    const start = reader.at;
    const id = reader.byte();
    const size = reader.u32();
    sections.push({ id, start, body: reader.at, end: reader.at + size });
    reader.at += size;
  }
  return sections;
}

function readFunctionType(reader: Reader): FunctionType {
  const form = reader.byte();
  if (form !== 0x60) throw new Error(`type form 0x${form.toString(16)} where a function type was expected`);
  return { params: reader.vector((r) => r.byte()), results: reader.vector((r) => r.byte()) };
}

function readFunctionImports(reader: Reader): FunctionImport[] {
  const functions: FunctionImport[] = [];
  reader.vector((r) => {
    const [module, name] = [r.name(), r.name()];
    const kind = r.byte();
    if (kind === 0) functions.push({ module, name, type: r.u32(), index: functions.length });
    else skipImport(r, kind);
  });
  return functions;
}

function skipImport(reader: Reader, kind: number): void {
  if (kind === 1) reader.byte();
  if (kind === 1 || kind === 2) reader.limits();
  else if (kind === 3) reader.at += 2;
  else throw new Error(`import of unknown kind ${kind}`);
}

const EXPORT = { function: 0, global: 3 } as const;

function readExports(reader: Reader, wanted: number): Map<string, number> {
  const found = new Map<string, number>();
  reader.vector((r) => {
    const exportName = r.name();
    const kind = r.byte();
    const index = r.u32();
    if (kind === wanted) found.set(exportName, index);
  });
  return found;
}

/** The initial value of a global, or undefined for one that is no i32 constant. */
function readGlobal(reader: Reader): number | undefined {
  reader.at += 2;
  const opcode = reader.byte();
  const value = opcode === 0x41 ? reader.s32() : undefined;
  while (value === undefined && reader.byte() !== 0x0b);
  if (value !== undefined) reader.byte();
  return value;
}

function readAddresses(
  globals: readonly (number | undefined)[],
  exports: ReadonlyMap<string, number>,
): Map<string, number> {
  const addresses = new Map<string, number>();
  for (const [exportName, index] of exports) {
    const value = globals[index];
    if (value !== undefined) addresses.set(exportName, value);
  }
  return addresses;
}
