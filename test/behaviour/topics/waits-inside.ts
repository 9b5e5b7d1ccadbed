import assert from 'node:assert/strict';
import { rowsOf, type Stage } from '../stage.ts';
import type { Scene, Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';

/** A plpgsql function `f()` that returns text, with the body given. */
const define = (body: string, declare = '') =>
  `create function f() returns text language plpgsql as $$ declare ${declare === '' ? '' : `${declare};`} begin ${body} end $$`;

/** A holds advisory lock 1; `sql` of B waits for it, and gives `rows` when A lets go. */
function inside(sql: string, rows: readonly unknown[][], setup = 'select 1'): Scene {
  return async ({ run, sendWaiting, expectDone, a, b }) => {
    await run(a, setup, 'select pg_advisory_lock(1)');
    const waiter = await sendWaiting(b, sql, { blockedBy: [a], lockType: 'advisory' });
    await run(a, 'select pg_advisory_unlock(1)');
    assert.deepEqual(rowsOf(await expectDone(waiter)), rows);
  };
}

/** B calls `f()`, which waits for A's row; then A ends as `end` says and `f()` returns `result`. */
async function callWaits(
  { run, sendWaiting, expectDone, a, b }: Stage,
  body: string,
  end: string,
  result: string,
): Promise<void> {
  await run(a, STOCK, define(body), 'begin', 'update stock set qty = 9, sku = 3 where sku = 1');
  const call = await sendWaiting(b, 'select f()', { blockedBy: [a], lockType: 'transactionid' });
  await run(a, end);
  assert.deepEqual(rowsOf(await expectDone(call)), [[result]]);
}

const CATCHING = `
  begin insert into stock values (3, 0); return 'inserted';
  exception when unique_violation then return 'caught ' || sqlerrm; end;`;

const DEADLOCKING = `
  update stock set qty = 0 where sku = 2;
  begin update stock set qty = 0 where sku = 1; return 'updated';
  exception when deadlock_detected then return 'caught ' || sqlstate; end;`;

const TIMING_OUT = `
  begin update stock set qty = 0 where sku = 1; return 'updated';
  exception when lock_not_available then return 'caught ' || sqlstate; end;`;

const LOOPING = `
  for r in select sku from stock order by sku for update loop seen := seen || r.sku::text; end loop;
  return seen;`;

export const waitsInside: Topic = {
  name: 'waits inside expressions and functions',
  scenes: {
    'in an expression': inside("select 1 + case when pg_advisory_lock(1)::text = '' then 1 else 0 end as sum", [[2]]),
    'in WHERE': inside("select 'row' where pg_advisory_lock(1) is not null", [['row']]),
    'in the middle of a set': inside(
      'select i, case when i = 2 then pg_try_advisory_lock(2)::text || pg_advisory_lock(1)::text end from generate_series(1, 3) i',
      [
        [1, null],
        [2, 'true'],
        [3, null],
      ],
    ),
    'in an aggregate': inside('select count(pg_advisory_lock(1))::int from generate_series(1, 2)', [[2]]),
    'in a sort': inside('select i from generate_series(1, 2) i order by pg_advisory_lock(1)::text, i desc', [[2], [1]]),
    'in an SQL function': inside(
      'select f()',
      [[7]],
      "create function f() returns int language sql as 'select pg_advisory_lock(1); select 7'",
    ),
    'in a nested plpgsql function': inside(
      'select g(3)',
      [[3]],
      `create function g(n int) returns int language plpgsql as $$
         begin if n = 0 then perform pg_advisory_lock(1); return 0; end if; return 1 + g(n - 1); end $$`,
    ),
    'in a set-returning function': inside(
      'select * from g()',
      [[1], [2]],
      `create function g() returns setof int language plpgsql as $$
         begin return next 1; perform pg_advisory_lock(1); return next 2; end $$`,
    ),
    'in dynamic SQL': inside('select f()', [['done']], define("execute 'select pg_advisory_lock(1)'; return 'done';")),
    'in a generated default': inside(
      'insert into t default values returning n',
      [[5]],
      "create function f() returns int language sql volatile as 'select pg_advisory_lock(1); select 5'; create table t (n int default f())",
    ),

    'a plpgsql function waits for a row and goes on': (stage) =>
      callWaits(
        stage,
        "update stock set qty = 0 where sku = 1; if found then return 'found'; end if; return 'gone';",
        'commit',
        'gone',
      ),

    'a block with EXCEPTION waits and catches what the wait brings': (stage) =>
      callWaits(stage, CATCHING, 'commit', 'caught duplicate key value violates unique constraint "stock_pkey"'),

    'a block with EXCEPTION waits and has nothing to catch': (stage) =>
      callWaits(stage, CATCHING, 'rollback', 'inserted'),

    'a block with EXCEPTION catches a deadlock and its locks are released': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
      c,
    }) => {
      await run(
        a,
        STOCK,
        define(DEADLOCKING),
        'begin',
        "set local deadlock_timeout = '60s'",
        'update stock set qty = 1 where sku = 1',
      );
      await run(b, 'begin', "set local deadlock_timeout = '10ms'");
      await run(c, 'begin', 'select 1 from stock where sku = 2 for update');
      const call = await sendWaiting(b, 'select f()', { blockedBy: [c] });
      const survivor = await sendWaiting(a, 'update stock set qty = 1 where sku = 2', { lockType: 'tuple' });
      await run(c, 'commit');
      assert.deepEqual(rowsOf(await expectDone(call)), [['caught 40P01']]);
      await run(b, 'rollback');
      await expectDone(survivor);
      await run(a, 'commit');
      await expectRows(a, 'select qty from stock order by sku', [[1], [1]]);
    },

    'a block with EXCEPTION catches a lock_timeout': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, define(TIMING_OUT), 'begin', 'update stock set qty = 1 where sku = 1');
      await run(b, "set lock_timeout = '20ms'");
      await expectRows(b, 'select f()', [['caught 55P03']]);
    },

    'a loop over a locking cursor waits in the middle': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(
        a,
        STOCK,
        define(LOOPING, "r record; seen text := ''"),
        'begin',
        'update stock set qty = 9 where sku = 2',
      );
      const call = await sendWaiting(b, 'select f()', { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(call)), [['12']]);
    },

    'a procedure commits before it waits': async ({ run, sendWaiting, expectDone, expectRows, a, b, c }) => {
      await run(
        a,
        STOCK,
        `create procedure p() language plpgsql as $$
        begin update stock set qty = 0 where sku = 1; commit; perform pg_advisory_lock(1); update stock set qty = 0 where sku = 2; end $$`,
      );
      await run(a, 'select pg_advisory_lock(1)');
      const call = await sendWaiting(b, 'call p()', { blockedBy: [a], lockType: 'advisory' });
      await expectRows(c, 'select qty from stock order by sku', [[0], [10]]);
      await run(a, 'select pg_advisory_unlock(1)');
      await expectDone(call);
      await expectRows(c, 'select qty from stock order by sku', [[0], [0]]);
    },

    'a data-modifying CTE waits': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 1 where sku = 1');
      const sql = 'with taken as (update stock set qty = qty - 1 returning sku, qty) select * from taken order by sku';
      const cte = await sendWaiting(b, sql, { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(cte)), [
        [1, 0],
        [2, 9],
      ]);
    },

    'two functions wait at once, each in its own place': async ({ run, sendWaiting, expectDone, a, b, c }) => {
      await run(a, define("perform pg_advisory_lock(1); return 'f';"), 'select pg_advisory_lock(1)');
      const first = await sendWaiting(b, "select f() || '1'", { blockedBy: [a] });
      const second = await sendWaiting(c, "select f() || '2'", { blockedBy: [a, b] });
      await run(a, 'select pg_advisory_unlock(1)');
      assert.deepEqual(rowsOf(await expectDone(first)), [['f1']]);
      await run(b, 'select pg_advisory_unlock(1)');
      assert.deepEqual(rowsOf(await expectDone(second)), [['f2']]);
    },
  },
};
