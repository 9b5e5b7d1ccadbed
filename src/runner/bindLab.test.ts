import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindLab, labModule, STAGE } from './bindLab.ts';

test('imports of the lab lead to the URL, and no line moves', () => {
  const cell = "import {\n  race,\n  sleep,\n} from 'lab';\nimport * as lab from \"lab\";\nimport pg from 'pg';\n";
  const bound =
    'import "blob:x"; import {\n  race,\n  sleep,\n} from "blob:x";\nimport * as lab from "blob:x";\nimport pg from \'pg\';\n';
  assert.equal(bindLab(cell, 'blob:x'), bound);
});

test('the word elsewhere stays', () => {
  const cell = "const from = 'lab';\nconsole.log('from', 'lab');\n";
  assert.equal(bindLab(cell, 'blob:x'), `import "blob:x"; ${cell}`);
});

test('a cell begins in the turn in which the stage is ready', async () => {
  const ready = Promise.withResolvers<undefined>();
  const seen: string[] = [];
  const lab = { note: (word: string) => seen.push(word) };
  Reflect.set(globalThis, Symbol.for(STAGE), { lab, begin: () => ready.promise });
  const url = dataUrl(labModule(['note']));
  const run = import(dataUrl(bindLab("import { note } from 'lab';\nnote('cell');", url)));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(seen, []);
  ready.resolve(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, ['cell']);
  await run;
});

function dataUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
