import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEADER, I32, SECTION, name, s32, section, vector } from './binary.ts';
import { findSection, parseModule } from './module.ts';

const TYPES = section(
  SECTION.type,
  vector([
    [0x60, 0, 1, I32],
    [0x60, 2, I32, I32, 0],
  ]),
);
const IMPORTS = section(
  SECTION.import,
  vector([
    [...name('env'), ...name('memory'), 2, 1, 1, 2],
    [...name('env'), ...name('f'), 0, 1],
    [...name('env'), ...name('counter'), 3, I32, 1],
    [...name('env'), ...name('table'), 1, 0x70, 0, 3],
    [...name('wasi'), ...name('g'), 0, 0],
  ]),
);
const FUNCTIONS = section(SECTION.function, vector([[0]]));
const GLOBALS = section(
  SECTION.global,
  vector([
    [I32, 0, 0x41, ...s32(-70_000), 0x0b],
    [I32, 0, 0x23, 0, 0x0b],
  ]),
);
const EXPORTS = section(
  SECTION.export,
  vector([
    [...name('h'), 0, 2],
    [...name('address'), 3, 0],
    [...name('other'), 3, 1],
  ]),
);
const CODE = section(SECTION.code, vector([[4, 0, 0x41, 7, 0x0b]]));
const moduleOf = (...sections: number[][]): Uint8Array => Uint8Array.from([...HEADER, ...sections.flat()]);

test('what a module declares', () => {
  const parsed = parseModule(moduleOf(TYPES, IMPORTS, FUNCTIONS, GLOBALS, EXPORTS, CODE));
  assert.deepEqual(parsed.types, [
    { params: [], results: [I32] },
    { params: [I32, I32], results: [] },
  ]);
  assert.deepEqual(parsed.functionImports, [
    { module: 'env', name: 'f', type: 1, index: 0 },
    { module: 'wasi', name: 'g', type: 0, index: 1 },
  ]);
  assert.deepEqual(parsed.functionTypes, [0]);
  assert.deepEqual([...parsed.exportedFunctions], [['h', 2]]);
  assert.deepEqual([...parsed.exportedAddresses], [['address', -70_000]], 'constants only');
});

test('sections lie where they say', () => {
  const bytes = moduleOf(TYPES, CODE);
  const parsed = { sections: [] as ReturnType<typeof parseModule>['sections'] };
  assert.throws(() => parseModule(bytes), /without a section 2/);
  parsed.sections = parseModule(moduleOf(TYPES, IMPORTS, FUNCTIONS, GLOBALS, EXPORTS, CODE)).sections;
  const types = findSection(parsed.sections, SECTION.type);
  assert.deepEqual(types, { id: 1, start: 8, body: 10, end: 8 + TYPES.length });
});

test('what is no module, or of another form, is refused', () => {
  assert.throws(() => parseModule(Uint8Array.of(1, 2, 3)), /not a WebAssembly module: it begins with bytes 1 2 3/);
  const struct = section(SECTION.type, vector([[0x5f, 0]]));
  assert.throws(() => parseModule(moduleOf(struct, IMPORTS)), /type form 0x5f where a function type was expected/);
  const unknown = section(SECTION.import, vector([[...name('env'), ...name('x'), 9]]));
  assert.throws(() => parseModule(moduleOf(TYPES, unknown)), /import of unknown kind 9/);
});
