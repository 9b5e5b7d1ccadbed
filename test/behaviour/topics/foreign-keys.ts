import type { Topic } from '../topic.ts';

const ORDERS = [
  'create table ord (id int primary key, state text not null)',
  'create table line (id int primary key, ord_id int not null references ord)',
  "insert into ord values (1, 'cart'), (2, 'cart')",
];
const ADD_LINE = 'insert into line values (11, 1)';

export const foreignKeys: Topic = {
  name: 'foreign keys',
  scenes: {
    'a child may be inserted while its parent is updated': async ({ run, a, b }) => {
      await run(a, ...ORDERS, 'begin', "update ord set state = 'paid' where id = 1");
      await run(b, ADD_LINE);
    },

    'a child waits while its parent is locked FOR UPDATE': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, ...ORDERS, 'begin', 'select 1 from ord where id = 1 for update');
      const child = await sendWaiting(b, ADD_LINE, { blockedBy: [a], lockType: 'transactionid' });
      await run(a, 'commit');
      await expectDone(child);
    },

    'a child whose parent is deleted during the wait fails': async ({ run, sendWaiting, expectError, a, b }) => {
      await run(a, ...ORDERS, 'begin', 'delete from ord where id = 1');
      const child = await sendWaiting(b, ADD_LINE, { blockedBy: [a] });
      await run(a, 'commit');
      await expectError(child, '23503', {
        message: 'insert or update on table "line" violates foreign key constraint "line_ord_id_fkey"',
        detail: 'Key (ord_id)=(1) is not present in table "ord".',
        constraint: 'line_ord_id_fkey',
        table: 'line',
      });
    },

    'a child whose parent survives a rolled back delete is inserted': async ({
      run,
      sendWaiting,
      expectDone,
      a,
      b,
    }) => {
      await run(a, ...ORDERS, 'begin', 'delete from ord where id = 1');
      const child = await sendWaiting(b, ADD_LINE, { blockedBy: [a] });
      await run(a, 'rollback');
      await expectDone(child);
    },

    'a parent is updated but not deleted beside a new child': async ({ run, sendWaiting, expectError, a, b, c }) => {
      await run(a, ...ORDERS, 'begin', ADD_LINE);
      await run(b, "update ord set state = 'paid' where id = 1");
      const remove = await sendWaiting(c, 'delete from ord where id = 1', { blockedBy: [a] });
      await run(a, 'commit');
      await expectError(remove, '23503', {
        message: 'update or delete on table "ord" violates foreign key constraint "line_ord_id_fkey" on table "line"',
        detail: 'Key (id)=(1) is still referenced from table "line".',
      });
    },

    "a parent's new key waits for its children": async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, ...ORDERS, 'begin', ADD_LINE);
      const rename = await sendWaiting(b, 'update ord set id = 9 where id = 1', { blockedBy: [a] });
      await run(a, 'rollback');
      await expectDone(rename);
    },

    'two children share a parent': async ({ run, a, b }) => {
      await run(a, ...ORDERS, 'begin', ADD_LINE);
      await run(b, 'insert into line values (12, 1)');
    },

    'ON DELETE CASCADE waits for a locked child': async ({ run, sendWaiting, expectDone, expectRows, a, b }) => {
      await run(a, ...ORDERS, ADD_LINE);
      await run(
        a,
        'alter table line drop constraint line_ord_id_fkey, add foreign key (ord_id) references ord on delete cascade',
      );
      await run(a, 'begin', 'update line set id = 12 where id = 11');
      const remove = await sendWaiting(b, 'delete from ord where id = 1', { blockedBy: [a] });
      await run(a, 'commit');
      await expectDone(remove);
      await expectRows(a, 'select * from line', []);
    },
  },
};
