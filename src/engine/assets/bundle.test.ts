import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blankBundle, parseFileTable } from './bundle.ts';
import { reasonToBlank } from './blanks.ts';

const GLUE =
  'x({files:[{filename:"/pglite/a",start:0,end:4},{filename:"/pglite/share/postgresql/postgres.bki",start:4,end:104}],remote_package_size:104})';

test('reads the table and blanks in place', () => {
  const files = parseFileTable(GLUE, 104);
  assert.deepEqual(
    files.map(({ path, start, end }) => [path, start, end]),
    [
      ['/pglite/a', 0, 4],
      ['/pglite/share/postgresql/postgres.bki', 4, 104],
    ],
  );
  const data = new Uint8Array(104).fill(1);
  const { bundle, blanked } = blankBundle(data, files);
  assert.equal(bundle.length, 104);
  assert.deepEqual(bundle.subarray(0, 4), data.subarray(0, 4));
  assert.match(new TextDecoder().decode(bundle.subarray(4)), /^# left out of this copy of PGlite .*\n +$/);
  assert.deepEqual(
    blanked.map(({ path }) => path),
    ['/pglite/share/postgresql/postgres.bki'],
  );
});

test('a table that is missing or does not fit is a named error', () => {
  const fails = (glue: string, bytes: number, message: RegExp): void =>
    assert.throws(() => parseFileTable(glue, bytes), { name: 'EngineError', code: 'INCOMPATIBLE_PGLITE', message });
  fails('nothing here', 104, /no entry \{filename, start, end\} was found/);
  fails(GLUE, 105, /the table ends at byte 104, pglite.data has 105/);
  fails(GLUE.replace('start:4', 'start:5'), 104, /postgres.bki should start at byte 4, but starts at 5/);
});

test('what lessons need is kept', () => {
  for (const path of [
    'lib/postgresql/plpgsql.so',
    'lib/postgresql/dict_snowball.so',
    'share/postgresql/extension/plpgsql.control',
    'share/postgresql/timezone/Europe/Berlin',
    'share/postgresql/timezonesets/Default',
    'share/postgresql/tsearch_data/english.stop',
    'icu/LICENSE',
  ]) {
    assert.equal(reasonToBlank(`/pglite/${path}`), undefined, path);
  }
  assert.match(reasonToBlank('/pglite/lib/postgresql/utf8_and_sjis.so')?.why ?? '', /Conversions between encodings/);
});
