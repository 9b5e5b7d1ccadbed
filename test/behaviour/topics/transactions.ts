import assert from 'node:assert/strict';
import { isPending } from '../schedule.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';
const TICKET = 'create table ticket (no serial primary key, who text)';

const take = (sku: number) => `update stock set qty = qty - 1 where sku = ${sku}`;

export const transactions: Topic = {
  name: 'transactions, savepoints and sequences',
  scenes: {
    'after an error only rollback is taken': async ({ run, fails, expectRows, a }) => {
      await run(a, STOCK, 'begin', take(1));
      await fails(a, 'select 1/0', '22012', { message: 'division by zero' });
      await fails(a, 'select 1', '25P02', {
        message: 'current transaction is aborted, commands ignored until end of transaction block',
      });
      assert.equal((await run(a, 'commit')).command, 'ROLLBACK');
      await expectRows(a, 'select qty from stock where sku = 1', [[10]]);
    },

    'rollback to a savepoint undoes what came after it': async ({ run, expectRows, a }) => {
      await run(a, STOCK, 'begin', take(1), 'savepoint s', take(1), take(2), 'rollback to s', 'commit');
      await expectRows(a, 'select qty from stock order by sku', [[9], [10]]);
    },

    'rollback to a savepoint releases the locks taken after it': async ({ run, sendWaiting, expectDone, a, b, c }) => {
      await run(a, STOCK, 'begin', take(1), 'savepoint s', take(2));
      const second = await sendWaiting(b, take(2), { blockedBy: [a] });
      const first = await sendWaiting(c, take(1), { blockedBy: [a] });
      await run(a, 'rollback to s');
      await expectDone(second);
      assert.ok(isPending(first));
      await run(a, 'commit');
      await expectDone(first);
    },

    'release keeps the locks': async ({ run, sendWaiting, expectWaits, expectDone, a, b }) => {
      await run(a, STOCK, 'begin', 'savepoint s', take(1), 'release s');
      const waiter = await sendWaiting(b, take(1), { blockedBy: [a] });
      await expectWaits(waiter, { blockedBy: [a] });
      await run(a, 'commit');
      await expectDone(waiter);
    },

    'a failed subtransaction leaves the rest': async ({ run, fails, expectRows, a }) => {
      await run(a, STOCK, 'begin', take(1), 'savepoint s');
      await fails(a, 'insert into stock values (1, 0)', '23505');
      await run(a, 'rollback to s', take(2), 'commit');
      await expectRows(a, 'select qty from stock order by sku', [[9], [9]]);
    },

    'a row lock strengthened in a rolled back subtransaction is weak again': async ({
      run,
      sendWaiting,
      expectDone,
      a,
      b,
      c,
    }) => {
      await run(a, STOCK, 'begin', 'select 1 from stock where sku = 1 for key share', 'savepoint s', take(1));
      const update = await sendWaiting(b, take(1), { blockedBy: [a] });
      await run(a, 'rollback to s');
      await expectDone(update);
      const remove = await sendWaiting(c, 'delete from stock where sku = 1', { blockedBy: [a] });
      await run(a, 'commit');
      await expectDone(remove);
    },

    'a rolled back insert leaves a gap in the serial': async ({ run, expectRows, a }) => {
      await run(a, TICKET, "insert into ticket (who) values ('a')");
      await run(a, 'begin', "insert into ticket (who) values ('b')", 'rollback');
      await run(a, "insert into ticket (who) values ('c')");
      await expectRows(a, 'select no, who from ticket order by no', [
        [1, 'a'],
        [3, 'c'],
      ]);
    },

    'nextval does not wait for an open transaction': async ({ run, expectRows, a, b }) => {
      await run(a, TICKET, 'begin', "insert into ticket (who) values ('a')");
      await expectRows(b, "insert into ticket (who) values ('b') returning no", [[2]]);
      await expectRows(b, "select nextval('ticket_no_seq')", [['3']]);
      await run(a, 'rollback');
      await expectRows(b, 'select no from ticket', [[2]]);
    },

    'currval belongs to the session': async ({ run, fails, expectRows, a, b }) => {
      await run(a, 'create sequence s', "select nextval('s')");
      await fails(b, "select currval('s')", '55000', {
        message: 'currval of sequence "s" is not yet defined in this session',
      });
      await run(b, "select nextval('s')");
      await expectRows(a, "select currval('s')", [['1']]);
    },

    'a deferred foreign key is checked at commit': async ({ run, fails, expectRows, a }) => {
      await run(
        a,
        'create table p (id int primary key); create table c (id int references p deferrable initially deferred)',
      );
      await run(a, 'begin', 'insert into c values (1)', 'insert into p values (1)', 'commit');
      await run(a, 'begin', 'insert into c values (2)');
      await fails(a, 'commit', '23503', {
        constraint: 'c_id_fkey',
        detail: 'Key (id)=(2) is not present in table "p".',
      });
      await expectRows(a, 'select id from c', [[1]]);
    },

    'SET CONSTRAINTS IMMEDIATE checks now': async ({ run, fails, a }) => {
      await run(
        a,
        'create table p (id int primary key); create table c (id int references p deferrable initially deferred)',
      );
      await run(a, 'begin', 'insert into c values (1)');
      await fails(a, 'set constraints all immediate', '23503');
    },

    'COMMIT AND CHAIN opens the next transaction': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'begin isolation level repeatable read', take(1), 'commit and chain', take(2));
      await expectRows(a, 'show transaction_isolation', [['repeatable read']]);
      await expectRows(b, 'select qty from stock order by sku', [[9], [10]]);
      await run(a, 'rollback');
    },

    'a cursor WITH HOLD outlives its transaction': async ({ run, expectRows, a }) => {
      await run(
        a,
        STOCK,
        'begin',
        'declare held cursor with hold for select sku from stock order by sku',
        'commit',
        take(1),
      );
      await expectRows(a, 'fetch 1 from held', [[1]]);
      await expectRows(a, 'fetch 5 from held', [[2]]);
      await run(a, 'close held');
    },

    'WHERE CURRENT OF updates the row of a cursor': async ({ run, sendWaiting, expectDone, expectRows, a, b }) => {
      await run(
        a,
        STOCK,
        'begin',
        'declare here cursor for select sku from stock order by sku for update',
        'fetch 1 from here',
      );
      await expectRows(b, 'select sku from stock for update skip locked', [[2]]);
      const waiter = await sendWaiting(b, take(1), { blockedBy: [a] });
      await run(a, 'update stock set qty = 5 where current of here', 'commit');
      await expectDone(waiter);
      await expectRows(a, 'select qty from stock where sku = 1', [[4]]);
    },
  },
};
