import assert from 'node:assert/strict';
import { fieldNames, rowsOf } from '../stage.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';
const READ = 'select count(*)::int from stock';
const EXCLUSIVE = { lockType: 'relation', mode: 'AccessExclusiveLock', relation: 'stock' } as const;

export const ddl: Topic = {
  name: 'DDL',
  scenes: {
    'ALTER TABLE waits for an open reader, and readers queue behind it': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
      c,
    }) => {
      await run(a, STOCK, 'begin', READ);
      const alter = await sendWaiting(b, 'alter table stock add column note text', { ...EXCLUSIVE, blockedBy: [a] });
      const read = await sendWaiting(c, READ, { blockedBy: [b], lockType: 'relation', mode: 'AccessShareLock' });
      await expectRows(a, READ, [[2]]);
      await run(a, 'commit');
      await expectDone(alter);
      assert.deepEqual(rowsOf(await expectDone(read)), [[2]]);
    },

    'readers go on when the waiting ALTER TABLE gives up': async ({
      run,
      sendWaiting,
      expectError,
      expectDone,
      a,
      b,
      c,
    }) => {
      await run(a, STOCK, 'begin', READ);
      await run(b, "set lock_timeout = '300ms'");
      const alter = await sendWaiting(b, 'alter table stock add column note text', { blockedBy: [a] });
      const read = await sendWaiting(c, READ, { blockedBy: [b] });
      await expectError(alter, '55P03');
      await expectDone(read);
    },

    'every session sees a new column': async ({ run, a, b, c }) => {
      await run(a, STOCK);
      for (const session of [a, b, c]) await run(session, 'select * from stock');
      await run(b, "alter table stock add column note text default 'new'");
      for (const session of [a, b, c]) {
        const result = await run(session, 'select * from stock where sku = 1');
        assert.deepEqual(fieldNames(result.fields), ['sku', 'qty', 'note']);
        assert.deepEqual(rowsOf(result), [[1, 10, 'new']]);
      }
    },

    'a statement that waited for a dropped table fails': async ({ run, sendWaiting, expectError, a, b }) => {
      await run(a, STOCK, 'begin', 'drop table stock');
      const read = await sendWaiting(b, READ, { blockedBy: [a], lockType: 'relation', relation: 'stock' });
      await run(a, 'commit');
      await expectError(read, '42P01', { message: 'relation "stock" does not exist', position: '27' });
    },

    'a table dropped and made anew during the wait is the new one': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'begin', 'drop table stock', 'create table stock (other int); insert into stock values (7)');
      const read = await sendWaiting(b, 'select * from stock', { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(
        (await expectDone(read)).rows.map((row) => ({ ...row })),
        [{ other: 7 }],
      );
    },

    'DDL is transactional': async ({ run, fails, expectRows, a, b }) => {
      await run(a, 'begin', STOCK, 'create index on stock (qty)');
      await fails(b, READ, '42P01');
      await run(a, 'rollback');
      await fails(a, READ, '42P01');
      await expectRows(b, "select to_regclass('stock')", [[null]]);
    },

    'TRUNCATE waits for a reader, and empties for all': async ({ run, sendWaiting, expectDone, expectRows, a, b }) => {
      await run(a, STOCK, 'begin', READ);
      const truncate = await sendWaiting(b, 'truncate stock', { ...EXCLUSIVE, blockedBy: [a] });
      await run(a, 'commit');
      await expectDone(truncate);
      await expectRows(a, READ, [[0]]);
    },

    'an older snapshot finds a truncated table empty': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'create table other ()');
      await run(a, 'begin isolation level repeatable read', 'select * from other');
      await run(b, 'truncate stock');
      await expectRows(a, READ, [[0]]);
    },

    'a rolled back TRUNCATE leaves the rows': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'begin', 'truncate stock restart identity', 'rollback');
      await expectRows(b, READ, [[2]]);
    },

    'CREATE INDEX waits for a writer but not for readers': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
      c,
    }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 9');
      const create = await sendWaiting(b, 'create index stock_qty on stock (qty)', {
        blockedBy: [a],
        mode: 'ShareLock',
        lockType: 'relation',
      });
      await expectRows(c, READ, [[2]]);
      await run(a, 'commit');
      await expectDone(create);
    },

    'CREATE INDEX CONCURRENTLY waits for writers, who need not wait': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
      c,
    }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 9 where sku = 1');
      const create = await sendWaiting(b, 'create index concurrently stock_qty on stock (qty)', {
        blockedBy: [a],
        lockType: 'virtualxid',
        mode: 'ShareLock',
        relation: null,
      });
      await run(c, 'update stock set qty = 8 where sku = 2');
      await run(a, 'commit');
      await expectDone(create);
      await expectRows(c, "select indisvalid from pg_index where indexrelid = 'stock_qty'::regclass", [[true]]);
      await run(c, 'set enable_seqscan = off');
      await expectRows(c, 'select sku from stock where qty = 8', [[2]]);
    },

    'CREATE INDEX CONCURRENTLY refuses a transaction': async ({ run, fails, a }) => {
      await run(a, STOCK, 'begin');
      await fails(a, 'create index concurrently on stock (qty)', '25001', {
        message: 'CREATE INDEX CONCURRENTLY cannot run inside a transaction block',
      });
    },

    'a unique index over duplicates fails': async ({ run, fails, a }) => {
      await run(a, STOCK);
      await fails(a, 'create unique index one_qty on stock (qty)', '23505', {
        message: 'could not create unique index "one_qty"',
        detail: 'Key (qty)=(10) is duplicated.',
      });
    },

    'a replaced function is the new one in every session': async ({ run, expectRows, a, b }) => {
      const define = (n: number) =>
        `create or replace function f() returns int language plpgsql as $$ begin return ${n}; end $$`;
      await run(a, define(1));
      await expectRows(b, 'select f()', [[1]]);
      await run(a, define(2));
      await expectRows(b, 'select f()', [[2]]);
    },

    'a renamed table keeps its waiters': async ({ run, sendWaiting, expectDone, expectRows, a, b }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 9 where sku = 1');
      const rename = await sendWaiting(b, 'alter table stock rename to goods', { ...EXCLUSIVE, blockedBy: [a] });
      await run(a, 'commit');
      await expectDone(rename);
      await expectRows(a, 'select count(*)::int from goods', [[2]]);
    },

    'adding a foreign key waits for writers of the parent': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'create table line (sku int)', 'begin', 'update stock set qty = 9 where sku = 1');
      const add = await sendWaiting(b, 'alter table line add foreign key (sku) references stock', {
        blockedBy: [a],
        mode: 'ShareRowExclusiveLock',
        relation: 'stock',
      });
      await run(a, 'commit');
      await expectDone(add);
    },
  },
};
