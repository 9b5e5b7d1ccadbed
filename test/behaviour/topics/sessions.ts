import assert from 'node:assert/strict';
import { send } from '../schedule.ts';
import { rowsOf } from '../stage.ts';
import type { Topic } from '../topic.ts';

export const sessions: Topic = {
  name: 'sessions',
  scenes: {
    'each has its own pid and place': async ({ cluster, expectRows }) => {
      assert.deepEqual(
        cluster.sessions.map((session) => session.index),
        [0, 1, 2, 3, 4, 5],
      );
      assert.equal(new Set(cluster.sessions.map((session) => session.pid)).size, 6);
      for (const session of cluster.sessions) await expectRows(session, 'select pg_backend_pid()', [[session.pid]]);
    },

    'pg_stat_activity lists them all': async ({ cluster, expectRows, a }) => {
      const pids = cluster.sessions.map((session) => session.pid).sort((x, y) => x - y);
      const sql = `select pid from pg_stat_activity where pid in (${pids.join()}) order by pid`;
      await expectRows(
        a,
        sql,
        pids.map((pid) => [pid]),
      );
    },

    'the server version is known': async ({ cluster, run, a }) => {
      assert.deepEqual(rowsOf(await run(a, 'show server_version')), [[cluster.versions.postgres]]);
    },

    'the state follows the statement': async ({ run, expectWaits, expectDone, a, b }) => {
      assert.equal(b.state, 'idle');
      await run(a, 'select pg_advisory_lock(1)');
      const waiter = send(b, 'select pg_advisory_lock(1)');
      assert.equal(b.state, 'running');
      await expectWaits(waiter);
      assert.equal(b.state, 'waiting');
      await run(a, 'select pg_advisory_unlock(1)');
      await expectDone(waiter);
      assert.equal(b.state, 'idle');
    },

    'temp tables are private': async ({ run, fails, expectRows, a, b }) => {
      await run(a, 'create temp table basket (n int); insert into basket values (1)');
      await fails(b, 'select * from basket', '42P01');
      await run(b, 'create temp table basket (n text)');
      await expectRows(b, 'select * from basket', []);
      await expectRows(a, 'select * from basket', [[1]]);
    },

    'a temp table hides a table of the same name': async ({ run, expectRows, a, b }) => {
      await run(a, 'create table basket as select 1 as n', 'create temp table basket as select 2 as n');
      await expectRows(a, 'select n from basket', [[2]]);
      await expectRows(b, 'select n from basket', [[1]]);
    },

    'ON COMMIT DROP and DELETE ROWS': async ({ run, fails, expectRows, a }) => {
      await run(a, 'create temp table kept (n int) on commit delete rows');
      await run(a, 'begin', 'create temp table gone () on commit drop', 'insert into kept values (1)', 'commit');
      await fails(a, 'select * from gone', '42P01');
      await expectRows(a, 'select * from kept', []);
    },

    'settings are private, and SET LOCAL ends with its transaction': async ({ run, expectRows, a, b }) => {
      const before = rowsOf(await run(b, 'show search_path'));
      await run(a, "set search_path = pg_catalog; set work_mem = '1MB'", 'begin', "set local work_mem = '2MB'");
      await expectRows(a, 'show work_mem', [['2MB']]);
      await run(a, 'commit');
      await expectRows(a, 'show work_mem', [['1MB']]);
      await expectRows(b, 'show search_path', before);
    },

    'the settings of the cluster hold in every session': async ({ cluster, expectRows }) => {
      for (const session of cluster.sessions) await expectRows(session, 'show deadlock_timeout', [['200ms']]);
    },

    'calls on one session run in the order they were made': async ({ run, expectDone, expectError, a }) => {
      await run(a, 'create table log (n serial, what text)');
      const note = (what: string) => send(a, 'insert into log (what) values ($1) returning n', [what]);
      const calls = [
        note('one'),
        send(a, 'select 1/0'),
        note('two'),
        send(a, "insert into log (what) values ('three') returning n"),
        note('four'),
      ];
      const [one, failing, ...rest] = calls;
      assert.ok(one && failing);
      assert.deepEqual(rowsOf(await expectDone(one)), [[1]]);
      await expectError(failing, '22012');
      for (const [index, call] of rest.entries()) assert.deepEqual(rowsOf(await expectDone(call)), [[index + 2]]);
    },

    'calls wait behind one that waits, and other sessions do not': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
      c,
    }) => {
      await run(a, 'create table log (what text)', 'select pg_advisory_lock(1)');
      const waiter = await sendWaiting(b, 'select pg_advisory_lock(1)');
      const behind = send(b, "insert into log values ('behind')");
      await run(c, "insert into log values ('other')");
      await expectRows(c, 'select what from log', [['other']]);
      await run(a, 'select pg_advisory_unlock(1)');
      await expectDone(waiter);
      await expectDone(behind);
      await expectRows(c, 'select what from log', [['other'], ['behind']]);
    },

    'a transaction sent in one go is one transaction': async ({ cluster, expectDone, expectRows, a, b }) => {
      const calls = ['begin', 'create table t as select 1 as n', 'commit'].map((sql) => send(a, sql));
      for (const call of calls) await expectDone(call);
      await expectRows(b, 'select n from t', [[1]]);
      assert.deepEqual(await cluster.waits(), []);
    },
  },
};
