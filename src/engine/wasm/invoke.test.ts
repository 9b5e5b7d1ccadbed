/** longjmp through an `invoke_*`, with a suspended stack across it. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { jspi } from '../jspi.ts';
import { F32, F64, HEADER, I32, I64, SECTION, name, section, vector } from './binary.ts';
import { buildInvokeModule } from './invoke.ts';
import type { ParsedModule } from './module.ts';

/** Indices in the table. */
const WAITS = 1;
const WAITS_AND_JUMPS = 2;
const INVOKE_TYPE = { params: [I32], results: [I32] };

/** What the builder reads of `pglite.wasm`. */
function importing(...types: { params: number[]; results: number[] }[]): ParsedModule {
  const functionImports = types.map((_, index) => ({ module: 'env', name: `invoke_${index}`, type: index, index }));
  return { types, functionImports } as unknown as ParsedModule;
}

const sized = (body: readonly number[]): number[] => [body.length, ...body];

/** `waits() = wait()`; `waitsAndJumps() = (wait(), jump())`; `run(index) = invoke_0(index)`. */
const PROGRAM = Uint8Array.from([
  ...HEADER,
  ...section(
    SECTION.type,
    vector([
      [0x60, 0, 1, I32],
      [0x60, 1, I32, 1, I32],
    ]),
  ),
  ...section(
    SECTION.import,
    vector([
      [...name('env'), ...name('wait'), 0, 0],
      [...name('env'), ...name('jump'), 0, 0],
      [...name('env'), ...name('invoke_0'), 0, 1],
      [...name('env'), ...name('table'), 1, 0x70, 0, 3],
    ]),
  ),
  ...section(SECTION.function, vector([[0], [0], [1]])),
  ...section(SECTION.export, vector([[...name('run'), 0, 5]])),
  ...section(9, vector([[0, 0x41, WAITS, 0x0b, 2, 3, 4]])),
  ...section(
    SECTION.code,
    vector([sized([0, 0x10, 0, 0x0b]), sized([0, 0x10, 0, 0x1a, 0x10, 1, 0x0b]), sized([0, 0x20, 0, 0x10, 2, 0x0b])]),
  ),
]);

const log: string[] = [];
let jump: () => number;
const tag = new jspi.Tag({ parameters: [] });

async function program(): Promise<(index: number) => Promise<number>> {
  const table = new WebAssembly.Table({ element: 'anyfunc', initial: 3 });
  const invokes = await WebAssembly.instantiate(buildInvokeModule(importing(INVOKE_TYPE)), {
    env: {
      stackSave: () => 1000 + log.push('save'),
      stackRestore: (pointer: number) => void log.push(`restore ${pointer}`),
      setThrew: (...threw: number[]) => void log.push(`threw ${threw.join(' ')}`),
      table,
      longjmp: tag as unknown as WebAssembly.ImportValue,
    },
  });
  const wait = new jspi.Suspending(async () => {
    log.push('waits');
    await new Promise((resolve) => setTimeout(resolve, 1));
    log.push('goes on');
    return 7;
  });
  const env = { ...invokes.instance.exports, wait, jump: () => jump(), table };
  const { instance } = await WebAssembly.instantiate(PROGRAM, { env });
  return jspi.promising(instance.exports['run'] as CallableFunction) as (index: number) => Promise<number>;
}

beforeEach(() => void log.splice(0));

test('a call that waits returns what it is given', async () => {
  const run = await program();
  assert.equal(await run(WAITS), 7);
  assert.deepEqual(log, ['save', 'waits', 'goes on']);
});

test('a longjmp after a wait ends in the invoke: stack restored, threw set, zero returned', async () => {
  jump = () => {
    throw new jspi.Exception(tag, []);
  };
  const run = await program();
  assert.equal(await run(WAITS_AND_JUMPS), 0);
  assert.deepEqual(log, ['save', 'waits', 'goes on', 'restore 1001', 'threw 1 0']);
});

test('any other exception passes through', async () => {
  jump = () => {
    throw new Error('an exit');
  };
  const run = await program();
  await assert.rejects(run(WAITS_AND_JUMPS), /an exit/);
  assert.deepEqual(log, ['save', 'waits', 'goes on']);
});

test('every type of result that PGlite has can be built', async () => {
  const types = [I32, I64, F32, F64].map((type) => ({ params: [I32, type], results: [type] }));
  const module = await WebAssembly.compile(buildInvokeModule(importing(...types, { params: [I32], results: [] })));
  assert.deepEqual(
    WebAssembly.Module.exports(module).map((entry) => entry.name),
    ['invoke_0', 'invoke_1', 'invoke_2', 'invoke_3', 'invoke_4'],
  );
});
