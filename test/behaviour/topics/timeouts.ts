import { isPending, send } from '../schedule.ts';
import assert from 'node:assert/strict';
import type { Stage } from '../stage.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10)';
const UPDATE = 'update stock set qty = qty - 1 where sku = 1';
const LOCK_TIMEOUT = { message: 'canceling statement due to lock timeout', severity: 'ERROR' } as const;
const STATEMENT_TIMEOUT = { message: 'canceling statement due to statement timeout', severity: 'ERROR' } as const;

async function holdRow({ run, a }: Stage): Promise<void> {
  await run(a, STOCK, 'begin', UPDATE);
}

export const timeouts: Topic = {
  name: 'timeouts',
  scenes: {
    'lock_timeout ends a wait, and the session goes on': async (stage) => {
      const { run, fails, expectRows, a, b } = stage;
      await holdRow(stage);
      await run(b, "set lock_timeout = '30ms'");
      await fails(b, UPDATE, '55P03', { ...LOCK_TIMEOUT, where: 'while updating tuple (0,1) in relation "stock"' });
      await run(a, 'commit');
      await expectRows(b, `${UPDATE} returning qty`, [[8]]);
    },

    'lock_timeout aborts the transaction, a savepoint keeps it': async (stage) => {
      const { run, fails, expectRows, a, b } = stage;
      await holdRow(stage);
      await run(
        b,
        'create table log (n int)',
        'begin',
        "set local lock_timeout = '30ms'",
        'insert into log values (1)',
        'savepoint s',
      );
      await fails(b, UPDATE, '55P03', LOCK_TIMEOUT);
      await fails(b, 'select 1', '25P02');
      await run(b, 'rollback to s', 'commit');
      await expectRows(a, 'select n from log', [[1]]);
    },

    'lock_timeout of a table lock': async ({ run, fails, a, b }) => {
      await run(a, STOCK, 'begin', 'select * from stock');
      await run(b, "set lock_timeout = '30ms'");
      await fails(b, 'alter table stock add note text', '55P03', LOCK_TIMEOUT);
    },

    'statement_timeout ends a wait, and the session goes on': async (stage) => {
      const { run, fails, expectRows, a, b } = stage;
      await holdRow(stage);
      await run(b, "set statement_timeout = '100ms'");
      await fails(b, UPDATE, '57014', STATEMENT_TIMEOUT);
      await run(a, 'rollback');
      await run(b, 'reset statement_timeout');
      await expectRows(b, `${UPDATE} returning qty`, [[9]]);
    },

    'statement_timeout ends pg_sleep': async ({ run, fails, a }) => {
      await run(a, "set statement_timeout = '100ms'");
      await fails(a, 'select pg_sleep(60)', '57014', STATEMENT_TIMEOUT);
      await run(a, 'reset statement_timeout', 'select pg_sleep(0.05)');
    },

    'the shorter of the two timeouts is the one that strikes': async (stage) => {
      await holdRow(stage);
      await stage.run(stage.b, "set statement_timeout = '20s'; set lock_timeout = '30ms'");
      await stage.fails(stage.b, UPDATE, '55P03', LOCK_TIMEOUT);
      await stage.run(stage.b, "set statement_timeout = '100ms'; set lock_timeout = '20s'");
      await stage.fails(stage.b, UPDATE, '57014', STATEMENT_TIMEOUT);
    },

    'a timeout takes the waiter out of the queue': async (stage) => {
      const { run, sendWaiting, expectError, expectWaits, expectDone, a, b, c } = stage;
      await holdRow(stage);
      await run(b, "set lock_timeout = '300ms'");
      const first = await sendWaiting(b, UPDATE, { blockedBy: [a] });
      const second = await sendWaiting(c, UPDATE, { lockType: 'tuple' });
      await expectError(first, '55P03');
      await expectWaits(second, { blockedBy: [a], lockType: 'transactionid' });
      await run(a, 'commit');
      await expectDone(second);
    },

    'a statement that ends in time is not touched later': async ({ run, expectRows, a }) => {
      await run(a, "set statement_timeout = '300ms'", 'select 1', 'reset statement_timeout');
      await run(a, 'select pg_sleep(0.4)');
      await expectRows(a, 'select 1', [[1]]);
    },

    'pg_sleep of one session does not stop another': async ({ run, cluster, expectRows, expectError, a, b }) => {
      await run(b, STOCK);
      const sleep = send(a, 'select pg_sleep(60)');
      await expectRows(b, `${UPDATE} returning qty`, [[9]]);
      assert.ok(isPending(sleep));
      await cluster.cancel(a);
      await expectError(sleep, '57014');
    },

    'several sessions sleep at once': async ({ run, cluster, until, expectError, a, b, c }) => {
      const sleeps = [a, b].map((session) => send(session, 'select pg_sleep(60)'));
      const asleep = `select 1 from pg_stat_activity where pid in (${a.pid}, ${b.pid}) and state = 'active'`;
      await until('A and B sleep', async () => (await run(c, asleep)).rowCount === 2);
      for (const sleep of sleeps) {
        await cluster.cancel(sleep.session);
        await expectError(sleep, '57014');
      }
    },

    'the clock moves between statements and stands in a transaction': async ({ run, expectRows, a }) => {
      await run(
        a,
        'create table t as select now() as at',
        'begin',
        'insert into t select now()',
        'select pg_sleep(0.01)',
      );
      await run(a, 'insert into t select now()', 'commit');
      await expectRows(a, 'select count(distinct at)::int from t', [[2]]);
      await expectRows(a, 'select clock_timestamp() > at from (select max(at) as at from t) m', [[true]]);
    },
  },
};
