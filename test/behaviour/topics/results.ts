import assert from 'node:assert/strict';
import type { Session } from '../../../src/engine/types.ts';
import type { Scene, Topic } from '../topic.ts';

const STOCK =
  'create table stock (sku int primary key, qty int not null check (qty >= 0)); insert into stock values (1, 10), (2, 10)';

/** The one value of `select <expression>`. */
function gives(expression: string, expected: unknown): Scene {
  return async ({ run, a }) => {
    const { rows } = await run(a, `select ${expression} as value`);
    assert.deepEqual(
      rows.map((row) => row['value']),
      [expected],
    );
  };
}

/** `[command, rowCount]` of each statement. */
async function tags(session: Session, ...statements: readonly string[]): Promise<unknown[][]> {
  const found: unknown[][] = [];
  for (const sql of statements) {
    const { command, rowCount } = await session.query(sql);
    found.push([command, rowCount]);
  }
  return found;
}

export const results: Topic = {
  name: 'results',
  scenes: {
    'int4 is a number': gives('42::int', 42),
    'int2 is a number': gives('-7::int2', -7),
    'int8 is a string': gives('9007199254740993::int8', '9007199254740993'),
    'count(*) is a string': gives('count(*)', '1'),
    'numeric is a string': gives('12.340::numeric', '12.340'),
    'float8 is a number': gives('0.1::float8', 0.1),
    'float8 NaN and infinity': gives("array['NaN', '-Infinity']::float8[]", [NaN, -Infinity]),
    'bool is a boolean': gives('array[true, false]', [true, false]),
    'null is null': gives('null::int', null),
    'text with quotes and umlauts': gives(`E'it''s "ä" \\\\ \\n 🛒'`, `it's "ä" \\ \n 🛒`),
    'timestamptz is a Date': gives("'2024-02-29 12:30:00.123+02'::timestamptz", new Date('2024-02-29T10:30:00.123Z')),
    'jsonb is parsed': gives(`'{"a": [1, null, "x"]}'::jsonb`, { a: [1, null, 'x'] }),
    'json null is null': gives("'null'::json", null),
    'int4[] is an array': gives('array[[1, 2], [3, null]]', [
      [1, 2],
      [3, null],
    ]),
    'text[] is an array': gives(`array['a', 'b,c', '"d"', null, '']`, ['a', 'b,c', '"d"', null, '']),
    'int8[] is an array of strings': gives('array[1, 2]::int8[]', ['1', '2']),
    'uuid is a string': gives("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
    'an enum-like record is text': gives("row(1, 'x')", '(1,x)'),

    'command and rowCount follow the tag': async ({ run, a }) => {
      await run(a, STOCK);
      const found = await tags(
        a,
        'select * from stock',
        'update stock set qty = 9',
        'delete from stock where sku = 2',
        'insert into stock values (3, 1), (4, 1)',
        'update stock set qty = 0 where false',
        'begin',
        'savepoint s',
        'commit',
        'create table t ()',
        'show work_mem',
        'listen x',
        'select 1 where false',
        'values (1), (2)',
      );
      assert.deepEqual(found, [
        ['SELECT', 2],
        ['UPDATE', 2],
        ['DELETE', 1],
        ['INSERT', 2],
        ['UPDATE', 0],
        ['BEGIN', null],
        ['SAVEPOINT', null],
        ['COMMIT', null],
        ['CREATE', null],
        ['SHOW', null],
        ['LISTEN', null],
        ['SELECT', 0],
        ['SELECT', 2],
      ]);
    },

    'fields describe the columns': async ({ run, a }) => {
      await run(a, STOCK);
      const { fields } = await run(a, "select sku, 'x'::varchar(10) as label from stock");
      const { rows } = await run(a, "select 'stock'::regclass::oid as oid");
      const [sku, label] = fields.map((field) => ({ ...field }));
      assert.deepEqual(sku, {
        name: 'sku',
        tableID: rows[0]?.['oid'],
        columnID: 1,
        dataTypeID: 23,
        dataTypeSize: 4,
        dataTypeModifier: -1,
        format: 'text',
      });
      assert.deepEqual(label, {
        name: 'label',
        tableID: 0,
        columnID: 0,
        dataTypeID: 1043,
        dataTypeSize: -1,
        dataTypeModifier: 14,
        format: 'text',
      });
    },

    'no rows still have fields': async ({ run, a }) => {
      const { fields, rows, rowCount } = await run(a, 'select 1 as one where false');
      assert.deepEqual([fields.length, rows, rowCount], [1, [], 0]);
    },

    'of two columns with one name the last counts': async ({ run, a }) => {
      const { rows, fields } = await run(a, 'select 1 as x, 2 as x');
      assert.deepEqual([{ ...rows[0] }, fields.length], [{ x: 2 }, 2]);
    },

    'an empty statement': async ({ a }) => {
      const { command, rowCount, rows, fields } = await a.query('');
      assert.deepEqual({ command, rowCount, rows, fields }, { command: '', rowCount: null, rows: [], fields: [] });
    },

    'exec gives one result for each statement': async ({ a }) => {
      const found = await a.exec('create table t (n int); insert into t values (1), (2); select n from t order by n');
      assert.deepEqual(
        found.map(({ command, rowCount }) => [command, rowCount]),
        [
          ['CREATE', null],
          ['INSERT', 2],
          ['SELECT', 2],
        ],
      );
      assert.deepEqual(
        found[2]?.rows.map((row) => row['n']),
        [1, 2],
      );
      assert.equal((await a.exec('select 1')).length, 1);
    },

    'query of several statements gives an array, as node-postgres does': async ({ a }) => {
      const found: unknown = await a.query('select 1 as x; select 2 as y');
      assert.ok(Array.isArray(found));
      assert.deepEqual(
        found.map((result: { rows: object[] }) => result.rows.map((row) => ({ ...row }))),
        [[{ x: 1 }], [{ y: 2 }]],
      );
    },

    'a large result arrives whole': async ({ run, a }) => {
      const { rows, rowCount } = await run(a, "select i, repeat('x', 100) as pad from generate_series(1, 20000) i");
      assert.deepEqual([rowCount, rows.at(-1)?.['i'], String(rows[19_999]?.['pad']).length], [20_000, 20_000, 100]);
    },

    'a large statement arrives whole': async ({ run, a }) => {
      const text = 'y'.repeat(300_000);
      const { rows } = await run(a, `select length('${text}') as n`);
      assert.equal(rows[0]?.['n'], 300_000);
    },
  },
};
