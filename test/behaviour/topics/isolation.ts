import type { Session } from '../../../src/engine/types.ts';
import { send } from '../schedule.ts';
import type { Stage } from '../stage.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';
const DOCTORS =
  "create table doctor (name text primary key, on_call bool not null); insert into doctor values ('ann', true), ('bob', true)";
const ON_CALL = 'select count(*)::int from doctor where on_call';
const UPDATE = 'update stock set qty = qty - 1 where sku = 1';
const BY_UPDATE = { message: 'could not serialize access due to concurrent update' } as const;

const leave = (name: string) => `update doctor set on_call = false where name = '${name}'`;
const begin = (level: string) => `begin isolation level ${level}`;

/** Both doctors look whether the other is on call, and leave. */
async function bothLeave({ run, expectRows, a, b }: Stage, level: string): Promise<void> {
  await run(a, DOCTORS);
  for (const session of [a, b]) await run(session, begin(level));
  for (const session of [a, b]) await expectRows(session, ON_CALL, [[2]]);
  await run(a, leave('ann'));
  await run(b, leave('bob'));
  await run(a, 'commit');
}

async function holdRow({ run }: Stage, holder: Session, reader: Session): Promise<void> {
  await run(holder, STOCK, 'begin', UPDATE);
  await run(reader, begin('repeatable read'), 'select count(*) from stock');
}

/** An open SERIALIZABLE writer, as a reason not to trust a snapshot yet. */
async function openWriter({ run, a }: Stage): Promise<void> {
  await run(
    a,
    STOCK,
    begin('serializable'),
    'select qty from stock where sku = 1',
    'update stock set qty = 9 where sku = 1',
  );
}

export const isolation: Topic = {
  name: 'isolation levels',
  scenes: {
    'READ COMMITTED sees each commit, and nothing uncommitted': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'begin', UPDATE);
      await run(b, 'begin');
      await expectRows(b, 'select qty from stock where sku = 1', [[10]]);
      await run(a, 'commit');
      await expectRows(b, 'select qty from stock where sku = 1', [[9]]);
    },

    'REPEATABLE READ keeps its snapshot': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK);
      await run(b, begin('repeatable read'));
      await expectRows(b, 'select sum(qty)::int from stock', [[20]]);
      await run(a, UPDATE, 'insert into stock values (3, 10)');
      await expectRows(b, 'select sum(qty)::int from stock', [[20]]);
      await run(b, 'commit');
      await expectRows(b, 'select sum(qty)::int from stock', [[29]]);
    },

    'the snapshot is taken by the first statement, not by BEGIN': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK);
      await run(b, begin('repeatable read'));
      await run(a, UPDATE);
      await expectRows(b, 'select qty from stock where sku = 1', [[9]]);
    },

    'REPEATABLE READ: a row updated during the wait is 40001': async (stage) => {
      const { run, sendWaiting, expectError, fails, a, b } = stage;
      await holdRow(stage, a, b);
      const update = await sendWaiting(b, UPDATE, { blockedBy: [a] });
      await run(a, 'commit');
      await expectError(update, '40001', { ...BY_UPDATE, severity: 'ERROR' });
      await fails(b, 'select 1', '25P02');
    },

    'REPEATABLE READ: a row updated since the snapshot is 40001 at once': async ({ run, fails, a, b }) => {
      await run(a, STOCK);
      await run(b, begin('repeatable read'), 'select count(*) from stock');
      await run(a, UPDATE);
      await fails(b, 'select qty from stock where sku = 1 for update', '40001', BY_UPDATE);
    },

    'REPEATABLE READ: a row deleted during the wait is 40001': async ({ run, sendWaiting, expectError, a, b }) => {
      await run(a, STOCK, 'begin', 'delete from stock where sku = 1');
      await run(b, begin('repeatable read'), 'select count(*) from stock');
      const update = await sendWaiting(b, UPDATE, { blockedBy: [a] });
      await run(a, 'commit');
      await expectError(update, '40001', { message: 'could not serialize access due to concurrent delete' });
    },

    'REPEATABLE READ: the wait ends well when the holder rolls back': async (stage) => {
      const { run, sendWaiting, expectDone, expectRows, a, b } = stage;
      await holdRow(stage, a, b);
      const update = await sendWaiting(b, `${UPDATE} returning qty`, { blockedBy: [a] });
      await run(a, 'rollback');
      await expectDone(update);
      await run(b, 'commit');
      await expectRows(a, 'select qty from stock where sku = 1', [[9]]);
    },

    'REPEATABLE READ allows write skew': async (stage) => {
      await bothLeave(stage, 'repeatable read');
      await stage.run(stage.b, 'commit');
      await stage.expectRows(stage.a, ON_CALL, [[0]]);
    },

    'SERIALIZABLE catches write skew, and a retry sees the other': async (stage) => {
      const { run, fails, expectRows, b } = stage;
      await bothLeave(stage, 'serializable');
      await fails(b, 'commit', '40001', {
        message: 'could not serialize access due to read/write dependencies among transactions',
        detail: /^Reason code: Canceled on identification as a pivot, during commit attempt\.$/,
        hint: 'The transaction might succeed if retried.',
      });
      await run(b, begin('serializable'));
      await expectRows(b, ON_CALL, [[1]]);
    },

    'SERIALIZABLE catches a phantom insert': async ({ run, fails, a, b }) => {
      await run(a, 'create table booking (room int, who text)');
      for (const session of [a, b])
        await run(session, begin('serializable'), 'select count(*) from booking where room = 1');
      await run(a, "insert into booking values (1, 'a')");
      await run(b, "insert into booking values (1, 'b')");
      await run(a, 'commit');
      await fails(b, 'commit', '40001');
    },

    'SERIALIZABLE: an updated row is 40001 as under REPEATABLE READ': async ({
      run,
      sendWaiting,
      expectError,
      a,
      b,
    }) => {
      await run(a, STOCK, begin('serializable'), UPDATE);
      await run(b, begin('serializable'), 'select count(*) from stock');
      const update = await sendWaiting(b, UPDATE, { blockedBy: [a] });
      await run(a, 'commit');
      await expectError(update, '40001', BY_UPDATE);
    },

    'SERIALIZABLE: a reader of a closed batch fails the late writer': async ({ run, fails, expectRows, a, b, c }) => {
      await run(
        a,
        'create table batch (no int); insert into batch values (1); create table receipt (batch int, cents int)',
      );
      await run(a, begin('serializable'), 'select no from batch');
      await run(b, begin('serializable'), 'update batch set no = 2', 'commit');
      await run(c, begin('serializable read only'));
      await expectRows(c, 'select no from batch', [[2]]);
      await expectRows(c, 'select * from receipt where batch = 1', []);
      await run(c, 'commit');
      await fails(a, 'insert into receipt values (1, 100)', '40001');
    },

    'SERIALIZABLE READ ONLY DEFERRABLE waits for a safe snapshot': async (stage) => {
      const { run, expectDone, until, a, b, c } = stage;
      await openWriter(stage);
      await run(b, begin('serializable read only deferrable'));
      const read = send(b, 'select sum(qty)::int from stock');
      const blocked = `select 1 where pg_safe_snapshot_blocking_pids(${b.pid}) = array[${a.pid}]`;
      await until('B waits for a safe snapshot', async () => (await run(c, blocked)).rowCount === 1);
      await run(a, 'commit');
      await expectDone(read);
    },

    'READ ONLY refuses to write': async ({ run, fails, a }) => {
      await run(a, STOCK, 'begin read only');
      await fails(a, UPDATE, '25006', { message: 'cannot execute UPDATE in a read-only transaction' });
    },

    'an exported snapshot is shared': async ({ run, expectRows, a, b, c }) => {
      await run(a, STOCK, begin('repeatable read'));
      const { rows } = await run(a, 'select pg_export_snapshot() as id');
      await run(c, UPDATE);
      await run(b, begin('repeatable read'), `set transaction snapshot '${String(rows[0]?.['id'])}'`);
      await expectRows(b, 'select qty from stock where sku = 1', [[10]]);
    },
  },
};
