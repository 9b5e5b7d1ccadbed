import assert from 'node:assert/strict';
import { isPending } from '../schedule.ts';
import { rowsOf, type Stage } from '../stage.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';
const TAKE_ONE = 'update stock set qty = qty - 1 where sku = 1 and qty >= 1 returning qty';
const LOCK_FIRST = 'select qty from stock where sku = 1 for update';

/** A holds the first row, with an update that leaves `qty` as it says. */
async function holdFirstRow({ run, a }: Stage, qty: number): Promise<void> {
  await run(a, STOCK, 'begin', `update stock set qty = ${qty} where sku = 1`);
}

export const rowLocks: Topic = {
  name: 'row locks',
  scenes: {
    'read, compute, write: an update is lost': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'begin', 'select qty from stock where sku = 1');
      await run(b, 'begin', 'select qty from stock where sku = 1');
      await run(a, 'update stock set qty = 9 where sku = 1', 'commit');
      await run(b, 'update stock set qty = 9 where sku = 1', 'commit');
      await expectRows(a, 'select qty from stock where sku = 1', [[9]]);
    },

    'an update that computes in place waits and is not lost': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
    }) => {
      await run(a, STOCK, 'begin', TAKE_ONE);
      const second = await sendWaiting(b, TAKE_ONE, { blockedBy: [a], lockType: 'transactionid', mode: 'ShareLock' });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(second)), [[8]]);
      await expectRows(a, 'select qty from stock where sku = 1', [[8]]);
    },

    'after the wait WHERE is checked again on the new version': async (stage) => {
      await holdFirstRow(stage, 0);
      const second = await stage.sendWaiting(stage.b, TAKE_ONE, { blockedBy: [stage.a] });
      await stage.run(stage.a, 'commit');
      assert.equal((await stage.expectDone(second)).rowCount, 0);
    },

    'after the holder rolls back the old version counts': async (stage) => {
      await holdFirstRow(stage, 0);
      const second = await stage.sendWaiting(stage.b, TAKE_ONE, { blockedBy: [stage.a] });
      await stage.run(stage.a, 'rollback');
      assert.deepEqual(rowsOf(await stage.expectDone(second)), [[9]]);
    },

    'a row deleted during the wait is passed over': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'begin', 'delete from stock where sku = 1');
      const locked = await sendWaiting(b, 'select sku from stock order by sku for update', { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(locked)), [[2]]);
    },

    'three waiters are served in the order of their arrival': async ({
      run,
      sendWaiting,
      expectWaits,
      expectDone,
      a,
      b,
      c,
      d,
    }) => {
      for (const session of [b, c, d]) await run(session, 'begin');
      await run(a, STOCK, 'begin', LOCK_FIRST);
      const first = await sendWaiting(b, LOCK_FIRST, { blockedBy: [a], lockType: 'transactionid' });
      const second = await sendWaiting(c, LOCK_FIRST, { blockedBy: [b], lockType: 'tuple', relation: 'stock' });
      const third = await sendWaiting(d, LOCK_FIRST, { blockedBy: [b, c], lockType: 'tuple', relation: 'stock' });
      await run(a, 'commit');
      await expectDone(first);
      await expectWaits(second, { blockedBy: [b], lockType: 'transactionid' });
      await expectWaits(third, { blockedBy: [c], lockType: 'tuple' });
      await run(b, 'commit');
      await expectDone(second);
      await expectWaits(third, { blockedBy: [c], lockType: 'transactionid' });
      await run(c, 'commit');
      await expectDone(third);
    },

    'another row is not locked': async (stage) => {
      await holdFirstRow(stage, 0);
      await stage.expectRows(stage.b, 'update stock set qty = 5 where sku = 2 returning qty', [[5]]);
    },

    'a reader does not wait and sees the committed version': async (stage) => {
      await holdFirstRow(stage, 0);
      await stage.expectRows(stage.b, 'select qty from stock where sku = 1', [[10]]);
    },

    'a session idle in its transaction keeps its locks': async (stage) => {
      await holdFirstRow(stage, 0);
      const { a, b, c, run, sendWaiting, expectDone, expectRows } = stage;
      await expectRows(c, `select state from pg_stat_activity where pid = ${a.pid}`, [['idle in transaction']]);
      const waiter = await sendWaiting(b, TAKE_ONE, { blockedBy: [a] });
      await run(c, 'select count(*) from stock');
      assert.ok(isPending(waiter));
      await run(a, 'rollback');
      await expectDone(waiter);
    },

    'FOR UPDATE with ORDER BY sorts before it waits': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, 'create table line (id int, place int); insert into line values (1, 1), (2, 2)');
      await run(a, 'begin', 'update line set place = 10 where id = 1');
      const sorted = await sendWaiting(b, 'select id, place from line order by place for update', { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(sorted)), [
        [1, 10],
        [2, 2],
      ]);
    },

    'LIMIT is applied before the re-check: fewer rows than asked for': async ({
      run,
      sendWaiting,
      expectDone,
      a,
      b,
    }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 0 where sku = 1');
      const sql =
        'with one as (select sku from stock where qty > 0 order by sku limit 1) select s.sku from stock s join one using (sku) where s.qty > 0 for update of s';
      const locked = await sendWaiting(b, sql, { blockedBy: [a] });
      await run(a, 'commit');
      assert.equal((await expectDone(locked)).rowCount, 0);
    },

    'a join is re-checked with the locked row alone': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'create table price (sku int, cents int); insert into price values (1, 100), (2, 200)');
      await run(a, 'begin', 'update stock set qty = 3 where sku = 1', 'update price set cents = 999 where sku = 1');
      const sql =
        'update stock s set qty = s.qty - 1 from price p where p.sku = s.sku and s.sku = 1 returning s.qty, p.cents';
      const joined = await sendWaiting(b, sql, { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(joined)), [[2, 100]]);
    },
  },
};
