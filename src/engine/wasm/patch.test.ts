import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadAssets } from '../assets/node.ts';
import { SECTION } from './binary.ts';
import { findSection, parseModule, type ParsedModule } from './module.ts';
import { GETPID, HOOK, patchPostgres, type PatchedModule } from './patch.ts';

let original: Uint8Array;
let patched: PatchedModule;
let pair: [ParsedModule, ParsedModule];

before(async () => {
  original = (await loadAssets()).wasm;
  patched = patchPostgres(original);
  pair = [parseModule(original), parseModule(patched.bytes)];
});

/** The bytes of each section but those with these ids. */
function others({ bytes, sections }: ParsedModule, ...ids: number[]): Map<number, string> {
  const rest = sections.filter(({ id }) => !ids.includes(id));
  return new Map(rest.map(({ id, start, end }) => [id, Buffer.from(bytes.subarray(start, end)).toString('base64')]));
}

test('the result is a module', () => assert.equal(WebAssembly.validate(Uint8Array.from(patched.bytes)), true));

test('the input is not touched', async () => {
  assert.equal(Buffer.compare(original, (await loadAssets()).wasm), 0);
});

test('only imports, table and code change, and no index of a function moves', () => {
  const [old, made] = pair;
  assert.deepEqual(
    others(made, SECTION.import, SECTION.code),
    others(old, SECTION.import, SECTION.table, SECTION.code),
  );
  assert.deepEqual(made.functionImports, old.functionImports);
});

test('the table is imported with the size that it had', async () => {
  const module = await WebAssembly.compile(patched.bytes);
  const tables = WebAssembly.Module.imports(module).filter(({ kind }) => kind === 'table');
  assert.deepEqual(
    tables.map(({ name }) => name),
    [HOOK.table],
  );
  assert.ok(patched.tableSize > 1000);
});

test('three functions and four comparisons change', () => {
  const [old, made] = pair;
  const lengths = [old, made].map(({ sections }) => {
    const { body, end } = findSection(sections, SECTION.code);
    return end - body;
  });
  // Two bodies shrink to a call, one grows by a call.
  assert.ok(Math.abs((lengths[0] ?? 0) - (lengths[1] ?? 0)) < 1000, lengths.join(' '));
  assert.equal(countPidChecks(old) - countPidChecks(made), 4);
});

/** How often `42` is compared: `i32.const 42` before `i32.eq` or `i32.ne`. */
function countPidChecks({ bytes, sections }: ParsedModule): number {
  const { body, end } = findSection(sections, SECTION.code);
  let count = 0;
  for (let at = body; at < end; at++) {
    if (
      bytes[at] === 0x41 &&
      bytes[at + 1] === GETPID &&
      (bytes[at + 2] === 0x46 || bytes[at + 2] === 0x47) &&
      bytes[at - 3] === 0x28
    )
      count += 1;
  }
  return count;
}

test('patching twice is refused: the places are gone', () => {
  assert.throws(() => patchPostgres(patched.bytes), /0 checks of getpid\(\) where 4 were expected/);
});
