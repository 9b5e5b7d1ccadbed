import assert from 'node:assert/strict';
import { send } from '../schedule.ts';
import type { Topic } from '../topic.ts';

const BY_USER = { message: 'canceling statement due to user request', severity: 'ERROR' } as const;
const LOCK = 'select pg_advisory_lock(1)';

export const cancelling: Topic = {
  name: 'cancelling',
  needs: { 'a statement that computes without end': 'parallel' },
  scenes: {
    'a waiting statement fails and the session goes on': async ({
      run,
      cluster,
      sendWaiting,
      expectError,
      expectRows,
      a,
      b,
    }) => {
      await run(a, LOCK);
      const waiter = await sendWaiting(b, LOCK, { blockedBy: [a] });
      assert.equal(await cluster.cancel(b), true);
      await expectError(waiter, '57014', BY_USER);
      await expectRows(b, 'select 1', [[1]]);
      assert.deepEqual(await cluster.waits(), []);
    },

    'a waiting statement fails its transaction': async ({
      run,
      cluster,
      sendWaiting,
      expectError,
      fails,
      expectRows,
      a,
      b,
    }) => {
      await run(a, 'create table t (n int)', LOCK);
      await run(b, 'begin', 'insert into t values (1)');
      const waiter = await sendWaiting(b, LOCK);
      await cluster.cancel(b);
      await expectError(waiter, '57014', BY_USER);
      await fails(b, 'select 1', '25P02');
      await run(b, 'rollback');
      await expectRows(b, 'select * from t', []);
    },

    'an idle session is left alone': async ({ cluster, expectRows, a }) => {
      assert.equal(await cluster.cancel(a), false);
      await expectRows(a, 'select 1', [[1]]);
    },

    'a session idle in its transaction is left alone': async ({ run, cluster, expectRows, a }) => {
      await run(a, 'begin');
      assert.equal(await cluster.cancel(a), false);
      await expectRows(a, 'select 1', [[1]]);
    },

    'pg_sleep ends': async ({ run, cluster, expectError, until, a, b }) => {
      const sleep = send(a, 'select pg_sleep(60)');
      const asleep = `select 1 from pg_stat_activity where pid = ${a.pid} and state = 'active'`;
      await until('A sleeps', async () => (await run(b, asleep)).rowCount === 1);
      assert.equal(await cluster.cancel(a), true);
      await expectError(sleep, '57014', BY_USER);
    },

    'pg_cancel_backend from another session': async ({ run, sendWaiting, expectError, expectRows, a, b, c }) => {
      await run(a, LOCK);
      const waiter = await sendWaiting(b, LOCK);
      await expectRows(c, `select pg_cancel_backend(${b.pid})`, [[true]]);
      await expectError(waiter, '57014', BY_USER);
      await expectRows(b, 'select 1', [[1]]);
    },

    'pg_cancel_backend of oneself': async ({ fails, expectRows, a }) => {
      await fails(a, 'select pg_cancel_backend(pg_backend_pid()), pg_sleep(60)', '57014', BY_USER);
      await expectRows(a, 'select 1', [[1]]);
    },

    'pg_cancel_backend of no session warns and is false': async ({ expectRows, a }) => {
      const warnings: string[] = [];
      const dispose = a.onNotice((notice) => warnings.push(`${notice.severity} ${notice.code} ${notice.message}`));
      await expectRows(a, 'select pg_cancel_backend(999999999)', [[false]]);
      dispose();
      assert.deepEqual(warnings, ['WARNING 01000 PID 999999999 is not a PostgreSQL backend process']);
    },

    'plpgsql: a cancelled wait is not caught by WHEN OTHERS': async ({
      run,
      cluster,
      sendWaiting,
      expectError,
      a,
      b,
    }) => {
      await run(a, LOCK);
      const waiter = await sendWaiting(
        b,
        'do $$ begin perform pg_advisory_lock(1); exception when others then null; end $$',
      );
      await cluster.cancel(b);
      await expectError(waiter, '57014', BY_USER);
    },

    'the calls behind a cancelled one run': async ({ run, cluster, sendWaiting, expectError, expectDone, a, b }) => {
      await run(a, LOCK);
      const waiter = await sendWaiting(b, LOCK);
      const next = send(b, 'select 2');
      await cluster.cancel(b);
      await expectError(waiter, '57014');
      assert.equal((await expectDone(next)).rowCount, 1);
    },

    'a statement that computes without end': async ({ cluster, run, until, expectError, a, b }) => {
      const endless = send(a, 'select count(*) from generate_series(1, 1000000000000)');
      const active = `select 1 from pg_stat_activity where pid = ${a.pid} and state = 'active'`;
      await until('A computes', async () => (await run(b, active)).rowCount === 1);
      await cluster.cancel(a);
      await expectError(endless, '57014', BY_USER);
    },
  },
};
