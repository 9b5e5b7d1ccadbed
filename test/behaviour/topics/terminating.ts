import assert from 'node:assert/strict';
import { send } from '../schedule.ts';
import type { Stage } from '../stage.ts';
import type { Session } from '../../../src/engine/types.ts';
import type { Topic } from '../topic.ts';

const BY_ADMIN = { message: 'terminating connection due to administrator command', severity: 'FATAL' } as const;
const LOCK = 'select pg_advisory_lock(1)';

async function terminate({ run, expectRows, f }: Stage, session: Session): Promise<void> {
  await expectRows(f, `select pg_terminate_backend(${session.pid})`, [[true]]);
  await run(f, 'select 1');
}

/** The session is known to have ended, takes no call, and its backend is gone. */
async function expectEnded({ run, until, fails, f }: Stage, session: Session): Promise<void> {
  await until(`session ${session.index} has ended`, () => session.state === 'ended');
  await fails(session, 'select 1', 'SESSION_ENDED');
  const listed = `select 1 from pg_stat_activity where pid = ${session.pid}`;
  await until(`pid ${session.pid} is gone`, async () => (await run(f, listed)).rowCount === 0);
}

export const terminating: Topic = {
  name: 'terminating',
  scenes: {
    'a waiting session': async (stage) => {
      const { run, sendWaiting, expectError, expectDone, a, b, c, d } = stage;
      await run(b, 'begin', 'select pg_advisory_xact_lock(2)');
      await run(a, LOCK);
      const waiter = await sendWaiting(b, LOCK, { blockedBy: [a] });
      const behind = await sendWaiting(c, 'select pg_advisory_lock(2)', { blockedBy: [b] });
      await terminate({ ...stage, f: d }, b);
      await expectError(waiter, '57P01', BY_ADMIN);
      await expectDone(behind);
      await expectEnded(stage, b);
    },

    'a session idle in its transaction: its locks are released, its work undone': async (stage) => {
      const { run, sendWaiting, expectDone, expectRows, a, b, c } = stage;
      await run(a, 'create table t (n int); insert into t values (1)', 'begin', 'update t set n = 2');
      const waiter = await sendWaiting(b, 'update t set n = n + 10', { blockedBy: [a] });
      await terminate(stage, a);
      await expectDone(waiter);
      await expectRows(c, 'select n from t', [[11]]);
      await expectEnded(stage, a);
    },

    'an idle session: its session locks and temp tables go': async (stage) => {
      const { run, sendWaiting, expectDone, until, a, b, c } = stage;
      await run(a, LOCK, 'create temp table mine (n int)');
      const waiter = await sendWaiting(b, LOCK, { blockedBy: [a] });
      await terminate(stage, a);
      await expectDone(waiter);
      await expectEnded(stage, a);
      await until(
        'the temp table is gone',
        async () => (await run(c, "select 1 from pg_class where relname = 'mine'")).rowCount === 0,
      );
    },

    'a sleeping session': async (stage) => {
      const { run, until, expectError, a, b } = stage;
      const sleep = send(a, 'select pg_sleep(60)');
      const asleep = `select 1 from pg_stat_activity where pid = ${a.pid} and state = 'active'`;
      await until('A sleeps', async () => (await run(b, asleep)).rowCount === 1);
      await terminate(stage, a);
      await expectError(sleep, '57P01', BY_ADMIN);
      await expectEnded(stage, a);
    },

    oneself: async (stage) => {
      await stage.fails(stage.a, 'select pg_terminate_backend(pg_backend_pid()), pg_sleep(60)', '57P01', BY_ADMIN);
      await expectEnded(stage, stage.a);
    },

    'calls made before the end are rejected, too': async (stage) => {
      const { run, sendWaiting, expectError, a, b } = stage;
      await run(a, LOCK);
      const waiter = await sendWaiting(b, LOCK);
      const queued = [send(b, 'select 1'), send(b, 'select $1::int', [2])];
      await terminate(stage, b);
      await expectError(waiter, '57P01', BY_ADMIN);
      for (const statement of queued) await expectError(statement, 'SESSION_ENDED');
      assert.equal(await stage.cluster.cancel(b), false);
    },

    'reset() replaces it': async (stage) => {
      const { cluster, a, b } = stage;
      const ended = a.pid;
      await terminate(stage, a);
      await expectEnded(stage, a);
      await cluster.reset();
      const [replaced, kept] = cluster.sessions;
      assert.ok(replaced && kept);
      assert.deepEqual([replaced.index, replaced.state, kept.pid], [0, 'idle', b.pid]);
      assert.notEqual(replaced.pid, ended);
      await stage.expectRows(replaced, 'select pg_backend_pid()', [[replaced.pid]]);
    },
  },
};
