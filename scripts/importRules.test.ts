/** The lint rules about who may import whom have to fire. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ESLint } from 'eslint';

const eslint = new ESLint({
  overrideConfig: [{ languageOptions: { parserOptions: { projectService: false, program: null } } }],
  // Rules that need types cannot judge a file that does not exist.
  ruleFilter: ({ ruleId }) =>
    /^(?:import-x\/no-restricted-paths|no-restricted-imports|no-restricted-globals|@typescript-eslint\/no-explicit-any)$/.test(
      ruleId,
    ),
});

async function complaints(filePath: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath });
  return (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message);
}

const PATHS = 'import-x/no-restricted-paths';
const IMPORTS = 'no-restricted-imports';

const refused: readonly (readonly [file: string, code: string, rule: string])[] = [
  ['src/events/x.ts', "import '../engine/errors.ts';", PATHS],
  ['src/engine/x.ts', "import '../lab/index.ts';", PATHS],
  ['src/engine/store/x.ts', "import '../../runner/protocol.ts';", PATHS],
  ['src/lab/x.ts', "import '../engine/cluster.ts';", PATHS],
  ['src/lessons/01-the-sale/x.ts', "import '../../engine/types.ts';", PATHS],
  ['src/native/x.ts', "import '../lab/index.ts';", PATHS],
  ['src/lab/x.ts', "void import('../runner/protocol.ts');", PATHS],
  ['src/runner/x.ts', "import '../components/href.ts';", PATHS],
  ['src/components/x.ts', "import '../engine/errors.ts';", PATHS],
  ['src/lessons/01-the-sale/cells/x.ts', "import '../../../runner/protocol.ts';", PATHS],
  ['src/lessons/01-the-sale/cells/x.ts', "import pg from 'pg';", IMPORTS],
  ['src/runner/x.ts', "import { PGlite } from '@electric-sql/pglite';", IMPORTS],
  ['src/components/x.ts', "import { Chart } from 'chart.js';", IMPORTS],
  ['src/engine/x.ts', "import { Chart } from 'chart.js/auto';", IMPORTS],
  ['src/runner/x.ts', "document.title = 'x';", 'no-restricted-globals'],
  ['src/lab/x.ts', 'export const x: any = 1;', '@typescript-eslint/no-explicit-any'],
];

for (const [file, code, rule] of refused) {
  test(`refused in ${file}: ${code}`, async () => {
    const rules = await complaints(file, code);
    assert.ok(rules.includes(rule), `${rule} expected, found: ${rules.join(', ') || 'nothing'}`);
  });
}

const allowed: readonly (readonly [file: string, code: string])[] = [
  ['src/lab/x.ts', "import type { Session } from '../engine/types.ts';"],
  ['src/lab/x.ts', "import '../engine/errors.ts'; import '../engine/port.ts';"],
  ['src/native/x.ts', "import '../engine/errors.ts';"],
  ['src/runner/x.ts', "import '../lessons/spec.ts';"],
  ['src/runner/x.ts', "import '../engine/errors.ts'; import '../lab/index.ts';"],
  ['src/components/x.ts', "import '../runner/protocol.ts'; import '../lessons/outline.ts';"],
  ['src/components/SoldChart.ts', "import { Chart } from 'chart.js';"],
  ['src/engine/x.ts', "import { PGlite } from '@electric-sql/pglite';"],
  ['src/lessons/01-the-sale/cells/x.ts', "import { race } from 'lab';"],
];

for (const [file, code] of allowed) {
  test(`allowed in ${file}: ${code}`, async () => assert.deepEqual(await complaints(file, code), []));
}
