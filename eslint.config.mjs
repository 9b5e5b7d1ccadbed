import js from '@eslint/js';
import astro from 'eslint-plugin-astro';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** What of the engine the lab may know: its types, its errors, and how it talks to a run's conductor. */
const LAB_OF_ENGINE = ['types', 'errors', 'packError', 'port', 'random', 'runProtocol', 'toLogged', 'eventLoop'];

/** Who may import whom: a folder of src/, and what it may use besides itself. */
const LAYERS = [
  { folder: 'events', uses: [] },
  { folder: 'engine', uses: ['events'] },
  { folder: 'lab', uses: ['events', ...LAB_OF_ENGINE.map((name) => `engine/${name}.ts`)] },
  { folder: 'native', uses: ['engine'] },
  { folder: 'runner', uses: ['lab', 'engine', 'events', 'lessons'] },
  { folder: 'lessons', uses: ['lab', 'events'] },
  { folder: 'lessons/*/cells', uses: ['lab'] },
  { folder: 'components', uses: ['runner', 'events', 'lessons'] },
  { folder: 'layouts', uses: ['components', 'lessons', 'styles'] },
];

const zones = LAYERS.map(({ folder, uses }) => ({
  target: `./src/${folder}/**/*`,
  from: './src/**/*',
  except: [folder, ...uses].map((name) => (name.endsWith('.ts') ? `**/src/${name}` : `**/src/${name}/**/*`)),
  message: `src/${folder} may import only from: ${[folder, ...uses].join(', ')}.`,
}));

const ENGINE_ONLY = { regex: '^@electric-sql/pglite', message: 'Only src/engine knows PGlite.' };
const CHART_ONLY = { regex: '^chart\\.js', message: 'Only the chart component knows Chart.js.' };
const LAB_ONLY = { regex: '^(?!lab$)', message: "A cell imports only from 'lab'." };

/** node:test awaits what is registered at the top level. */
const NODE_TEST = { from: 'package', package: 'node:test', name: ['test', 'it', 'describe', 'suite'] };

const restrictImports = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });
const DOM_GLOBALS = ['document', 'window', 'HTMLElement', 'customElements', 'localStorage'];

export default defineConfig(
  globalIgnores(['dist/', '.astro/', '.cache/', 'test-results/', 'playwright-report/']),
  js.configs.recommended,
  tseslint.configs.strict,
  astro.configs.recommended,
  {
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.mjs', '.js', '.astro'] })] },
    rules: {
      eqeqeq: 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      'import-x/no-restricted-paths': ['error', { zones }],
      'import-x/no-cycle': 'error',
    },
  },
  // The lab's tests run it on real sessions, too.
  { files: ['src/lab/**/*.test.ts'], rules: { 'import-x/no-restricted-paths': 'off' } },
  {
    files: ['scripts/**', 'bench/**', '**/*.mjs', '*.ts'],
    languageOptions: { globals: { console: false, process: false, URL: false } },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: { module: false } } },
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [NODE_TEST] }],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-unsafe-argument': 'error',
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  // How Astro's generated types come in; an import would make the file a module.
  { files: ['src/env.d.ts'], rules: { '@typescript-eslint/triple-slash-reference': 'off' } },
  // A Playwright fixture that uses no other has to say so with an empty pattern.
  { files: ['e2e/**'], rules: { 'no-empty-pattern': ['error', { allowObjectPatternsAsParameters: true }] } },
  { files: ['src/**'], rules: restrictImports(ENGINE_ONLY, CHART_ONLY) },
  { files: ['src/engine/**'], rules: restrictImports(CHART_ONLY) },
  { files: ['src/components/SoldChart.ts'], rules: restrictImports(ENGINE_ONLY) },
  { files: ['src/lessons/*/cells/**'], rules: restrictImports(LAB_ONLY) },
  {
    files: ['src/{events,engine,lab,runner,lessons}/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...DOM_GLOBALS.map((name) => ({ name, message: 'Only components know the DOM.' })),
      ],
    },
  },
);
