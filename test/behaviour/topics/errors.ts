import assert from 'node:assert/strict';
import type { Topic } from '../topic.ts';

const STOCK =
  'create table stock (sku int primary key, qty int not null check (qty >= 0)); insert into stock values (1, 10), (2, 10)';

export const errors: Topic = {
  name: 'errors',
  scenes: {
    'an error in the middle of several statements undoes them all': async ({ run, fails, expectRows, a }) => {
      await run(a, STOCK);
      await fails(a, 'insert into stock values (3, 1); select 1/0; insert into stock values (4, 1)', '22012');
      await expectRows(a, 'select sku from stock order by sku', [[1], [2]]);
    },

    'COMMIT among several statements keeps what came before': async ({ run, fails, expectRows, a }) => {
      await run(a, STOCK);
      await fails(
        a,
        'begin; insert into stock values (3, 1); commit; insert into stock values (4, 1); select 1/0',
        '22012',
      );
      await expectRows(a, 'select sku from stock order by sku', [[1], [2], [3]]);
    },

    'a syntax error has its position': async ({ fails, a }) => {
      await fails(a, 'select 1 +, 2', '42601', {
        message: 'syntax error at or near ","',
        position: '11',
        severity: 'ERROR',
      });
    },

    'an unknown column has position and hint': async ({ run, fails, a }) => {
      await run(a, STOCK);
      await fails(a, 'select quantity, qt from stock', '42703', {
        message: 'column "quantity" does not exist',
        position: '8',
      });
      await fails(a, 'select qtyy from stock', '42703', {
        hint: 'Perhaps you meant to reference the column "stock.qty".',
      });
    },

    'a violated check names constraint, table and row': async ({ run, fails, a }) => {
      await run(a, STOCK);
      await fails(a, 'update stock set qty = qty - 11 where sku = 1', '23514', {
        message: 'new row for relation "stock" violates check constraint "stock_qty_check"',
        detail: 'Failing row contains (1, -1).',
        constraint: 'stock_qty_check',
        schema: 'public',
        table: 'stock',
      });
    },

    'a null where none may be names the column': async ({ run, fails, a }) => {
      await run(a, STOCK);
      await fails(a, 'insert into stock values (3, null)', '23502', {
        column: 'qty',
        table: 'stock',
        detail: 'Failing row contains (3, null).',
      });
    },

    'an error in plpgsql says where': async ({ fails, a }) => {
      await fails(
        a,
        "do $$ begin\n perform 1;\n raise exception 'stop' using errcode = 'P0001', hint = 'go'; end $$",
        'P0001',
        {
          message: 'stop',
          hint: 'go',
          where: 'PL/pgSQL function inline_code_block line 3 at RAISE',
          routine: 'exec_stmt_raise',
        },
      );
    },

    'an error inside dynamic SQL has its internal position': async ({ fails, a }) => {
      await fails(a, "do $$ begin execute 'select oops'; end $$", '42703', {
        internalQuery: 'select oops',
        internalPosition: '8',
      });
    },

    'an error is an Error': async ({ fails, a }) => {
      const failure = await fails(a, 'select 1/0', '22012');
      assert.ok(failure instanceof Error);
      assert.match(failure.stack ?? '', /division by zero/);
    },
  },
};
