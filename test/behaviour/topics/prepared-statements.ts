import assert from 'node:assert/strict';
import { fieldNames, rowsOf } from '../stage.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';
const PREPARE = 'prepare take (int) as update stock set qty = qty - 1 where sku = $1 returning qty';

export const preparedStatements: Topic = {
  name: 'prepared statements',
  scenes: {
    'belong to their session': async ({ run, fails, expectRows, a, b }) => {
      await run(a, STOCK, PREPARE);
      await expectRows(a, 'execute take(1)', [[9]]);
      await fails(b, 'execute take(1)', '26000', { message: 'prepared statement "take" does not exist' });
      await run(b, 'prepare take as select 1');
      await expectRows(b, 'execute take', [[1]]);
      await expectRows(a, 'execute take(1)', [[8]]);
    },

    'wait and are re-checked as others': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 5 where sku = 1');
      await run(b, PREPARE);
      const waiter = await sendWaiting(b, 'execute take(1)', { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(waiter)), [[4]]);
    },

    'outlive a rollback': async ({ run, expectRows, a }) => {
      await run(a, STOCK, 'begin', PREPARE, 'rollback');
      await expectRows(a, 'execute take(2)', [[9]]);
    },

    'are planned anew after DDL of another session': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'prepare by_qty as select sku from stock where qty = 10 order by sku');
      await expectRows(a, 'execute by_qty', [[1], [2]]);
      await run(b, 'create index stock_qty on stock (qty)', 'alter table stock add column note text');
      await run(a, 'set enable_seqscan = off; set enable_sort = off');
      await expectRows(a, 'execute by_qty', [[1], [2]]);
      await run(b, 'drop index stock_qty');
      await expectRows(a, 'execute by_qty', [[1], [2]]);
    },

    'fail when their result has changed its columns': async ({ run, fails, a, b }) => {
      await run(a, STOCK, 'prepare everything as select * from stock', 'execute everything');
      await run(b, 'alter table stock add column note text');
      await fails(a, 'execute everything', '0A000', { message: 'cached plan must not change result type' });
      await run(a, 'deallocate everything', 'prepare everything as select * from stock');
      assert.deepEqual(fieldNames((await run(a, 'execute everything')).fields), ['sku', 'qty', 'note']);
    },

    'fail when their table is gone': async ({ run, fails, a, b }) => {
      await run(a, STOCK, PREPARE, 'execute take(1)');
      await run(b, 'drop table stock');
      await fails(a, 'execute take(1)', '42P01', { message: 'relation "stock" does not exist' });
    },

    'are listed and discarded': async ({ run, expectRows, a }) => {
      await run(a, STOCK, PREPARE);
      await expectRows(a, 'select name from pg_prepared_statements where from_sql', [['take']]);
      await run(a, 'deallocate all');
      await expectRows(a, 'select name from pg_prepared_statements where from_sql', []);
    },
  },
};
