import assert from 'node:assert/strict';
import { send } from '../schedule.ts';
import { rowsOf } from '../stage.ts';
import type { Scene, Topic } from '../topic.ts';

/** What Postgres makes of a parameter of the type given. */
function takes(type: string, value: unknown, expected: unknown): Scene {
  return async ({ expectDone, a }) => {
    const result = await expectDone(send(a, `select $1::${type} as value`, [value]));
    assert.deepEqual(
      result.rows.map((row) => row['value']),
      [expected],
    );
  };
}

export const parameters: Topic = {
  name: 'parameters',
  scenes: {
    'a number as int': takes('int', 42, 42),
    'a number as float8': takes('float8', -0.5, -0.5),
    'a number as numeric': takes('numeric', 1.25, '1.25'),
    'a number as text': takes('text', 7, '7'),
    'a string': takes('text', `it's "ä" \\ 🛒`, `it's "ä" \\ 🛒`),
    'a string as int': takes('int', '12', 12),
    'the empty string': takes('text', '', ''),
    null: takes('int', null, null),
    'undefined as null': takes('int', undefined, null),
    true: takes('boolean', true, true),
    false: takes('boolean', false, false),
    'a bigint': takes('int8', 9007199254740993n, '9007199254740993'),
    'a Date': takes('timestamptz', new Date('2024-02-29T10:30:00.123Z'), new Date('2024-02-29T10:30:00.123Z')),
    'an array of numbers': takes('int[]', [1, null, 3], [1, null, 3]),
    'an array of strings': takes('text[]', ['a', 'b,c', '"d"', '', null], ['a', 'b,c', '"d"', '', null]),
    'an empty array': takes('int[]', [], []),
    'an object as jsonb': takes('jsonb', { a: [1, 'x'] }, { a: [1, 'x'] }),
    'an object as json': takes('json', { sku: null }, { sku: null }),

    'several, in any order': async ({ expectDone, a }) => {
      const result = await expectDone(
        send(a, 'select $2::text || $1::text as joined, $2::text as again', ['one', 'two']),
      );
      assert.deepEqual(rowsOf(result), [['twoone', 'two']]);
    },

    'their types are inferred': async ({ run, expectDone, a }) => {
      await run(a, 'create table t (n int, label text, at timestamptz)');
      const inserted = await expectDone(
        send(a, 'insert into t values ($1, $2, $3) returning n, label', [1, 2, new Date(0)]),
      );
      assert.deepEqual(rowsOf(inserted), [[1, '2']]);
      assert.equal((await expectDone(send(a, 'select 1 from t where n = any($1)', [[1, 2]]))).rowCount, 1);
    },

    'no SQL gets in': async ({ run, expectDone, expectRows, a }) => {
      await run(a, 'create table t (label text)');
      await expectDone(send(a, 'insert into t values ($1)', ["'); drop table t; --"]));
      await expectRows(a, 'select label from t', [["'); drop table t; --"]]);
    },

    'a wait with parameters': async ({ run, expectWaits, expectDone, a, b }) => {
      await run(
        a,
        'create table t (n int, who text); insert into t values (1, null)',
        'begin',
        "update t set who = 'a'",
      );
      const update = send(b, 'update t set who = $1 where n = $2 returning who', ['b', 1]);
      await expectWaits(update, { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(update)), [['b']]);
    },

    'too few are an error': async ({ expectError, expectRows, a }) => {
      await expectError(send(a, 'select $1::int, $2::int', [1]), '08P01', {
        message: 'bind message supplies 1 parameters, but prepared statement "" requires 2',
      });
      await expectRows(a, 'select 1', [[1]]);
    },

    'a value that does not fit is an error': async ({ expectError, expectRows, a }) => {
      await expectError(send(a, 'select $1::int', ['many']), '22P02', {
        message: 'invalid input syntax for type integer: "many"',
      });
      await expectRows(a, 'select 1', [[1]]);
    },

    'several statements with parameters are an error': async ({ expectError, a }) => {
      await expectError(send(a, 'select $1::int; select 2', [1]), '42601', {
        message: 'cannot insert multiple commands into a prepared statement',
      });
    },

    'an error in a transaction leaves the session in step': async ({ run, expectError, fails, expectRows, a }) => {
      await run(a, 'begin');
      await expectError(send(a, 'select 1 / $1::int', [0]), '22012');
      await fails(a, 'select 1', '25P02');
      await run(a, 'rollback');
      await expectRows(a, 'select 1', [[1]]);
    },
  },
};
