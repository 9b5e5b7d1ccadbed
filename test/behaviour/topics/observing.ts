import assert from 'node:assert/strict';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';
const UPDATE = 'update stock set qty = 0 where sku = 1';

export const observing: Topic = {
  name: 'what a waiter waits for',
  needs: { 'pg_stat_activity shows the wait event of a waiter': 'waitEvents' },
  scenes: {
    'nobody waits: waits() is empty': async ({ run, cluster, a }) => {
      await run(a, STOCK, 'begin', UPDATE);
      assert.deepEqual(await cluster.waits(), []);
    },

    'waits() names lock, mode, transaction, blocker and statement': async ({ run, cluster, sendWaiting, a, b }) => {
      await run(a, STOCK, 'begin', UPDATE);
      const { rows } = await run(a, 'select pg_current_xact_id()::text as id');
      await sendWaiting(b, UPDATE);
      assert.deepEqual(
        (await cluster.waits()).map((wait) => ({ ...wait })),
        [
          {
            pid: b.pid,
            lockType: 'transactionid',
            mode: 'ShareLock',
            relation: null,
            page: null,
            tuple: null,
            transaction: rows[0]?.['id'],
            blockedBy: [a.pid],
            query: UPDATE,
          },
        ],
      );
    },

    'waits() names relation, page and tuple of a tuple lock': async ({ run, cluster, sendWaiting, a, b, c }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 0 where sku = 2');
      const update = 'update stock set qty = 1 where sku = 2';
      await sendWaiting(b, update, { blockedBy: [a] });
      await sendWaiting(c, update, { blockedBy: [b] });
      const waits = await cluster.waits();
      assert.deepEqual(
        waits.map((wait) => wait.pid),
        [b.pid, c.pid],
        'in the order of arrival',
      );
      const { lockType, relation, page, tuple, transaction } = waits[1] ?? {};
      assert.deepEqual(
        { lockType, relation, page, tuple, transaction },
        { lockType: 'tuple', relation: 'stock', page: 0, tuple: 2, transaction: null },
      );
    },

    'waits() names the schema unless it is public': async ({ run, cluster, sendWaiting, a, b }) => {
      await run(a, 'drop schema if exists shop cascade; create schema shop; create table shop.stock ()');
      await run(a, 'begin', 'lock table shop.stock');
      await sendWaiting(b, 'select * from shop.stock', { relation: 'shop.stock', mode: 'AccessShareLock' });
      await cluster.cancel(b);
      await run(a, 'drop schema shop cascade', 'commit');
    },

    'waits() gives no name to a table dropped but not yet committed': async ({
      run,
      cluster,
      sendWaiting,
      expectError,
      a,
      b,
    }) => {
      await run(a, STOCK, 'begin', 'drop table stock');
      const read = await sendWaiting(b, 'select * from stock', { relation: 'stock', lockType: 'relation' });
      assert.equal((await cluster.waits()).length, 1);
      await run(a, 'commit');
      await expectError(read, '42P01');
      assert.deepEqual(await cluster.waits(), []);
    },

    'waits() itself does not wait for an exclusively locked table': async ({ run, cluster, sendWaiting, a, b, c }) => {
      await run(a, STOCK, 'begin', 'lock table stock in access exclusive mode');
      await sendWaiting(b, 'select 1 from stock', { blockedBy: [a] });
      await sendWaiting(c, 'select 2 from stock', { blockedBy: [a] });
      assert.equal((await cluster.waits()).length, 2);
    },

    'pg_blocking_pids() says the same': async ({ run, expectRows, sendWaiting, a, b, c, d }) => {
      await run(a, STOCK, 'begin', UPDATE);
      await sendWaiting(b, UPDATE, { blockedBy: [a] });
      await sendWaiting(c, UPDATE, { blockedBy: [b] });
      await expectRows(
        d,
        `select pg_blocking_pids(${b.pid}) as b, pg_blocking_pids(${c.pid}) as c, pg_blocking_pids(${a.pid}) as a`,
        [[[a.pid], [b.pid], []]],
      );
    },

    'pg_locks shows what is granted and what is not': async ({ run, expectRows, sendWaiting, a, b, c }) => {
      await run(a, STOCK, 'begin', 'lock table stock in exclusive mode');
      await sendWaiting(b, 'begin; lock table stock in row share mode');
      const sql = "select pid, mode, granted from pg_locks where relation = 'stock'::regclass order by granted desc";
      await expectRows(c, sql, [
        [a.pid, 'ExclusiveLock', true],
        [b.pid, 'RowShareLock', false],
      ]);
    },

    'pg_stat_activity shows state and statement of blocker and waiter': async ({
      run,
      expectRows,
      sendWaiting,
      a,
      b,
      c,
    }) => {
      await run(a, STOCK, 'begin', UPDATE);
      await sendWaiting(b, UPDATE);
      const sql = `select state, query from pg_stat_activity where pid in (${a.pid}, ${b.pid}) order by state`;
      await expectRows(c, sql, [
        ['active', UPDATE],
        ['idle in transaction', UPDATE],
      ]);
    },

    'pg_stat_activity shows the wait event of a waiter': async ({ run, expectRows, sendWaiting, a, b, c }) => {
      await run(a, STOCK, 'begin', UPDATE);
      await sendWaiting(b, UPDATE);
      const sql = `select wait_event_type, wait_event from pg_stat_activity where pid = ${b.pid}`;
      await expectRows(c, sql, [['Lock', 'transactionid']]);
    },
  },
};
