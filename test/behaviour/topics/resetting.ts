import assert from 'node:assert/strict';
import { send, type Statement } from '../schedule.ts';
import type { Stage } from '../stage.ts';
import type { Scene, Topic } from '../topic.ts';

const PUBLIC = `
  select relname::text as name from pg_class where relnamespace = 'public'::regnamespace
  union all select proname::text from pg_proc where pronamespace = 'public'::regnamespace
  union all select typname::text from pg_type where typnamespace = 'public'::regnamespace`;

/** A makes a mess, `reset()` is called, and A's answer to `sql` is as new. */
function cleans(statements: readonly string[], sql: string, rows: readonly unknown[][]): Scene {
  return async ({ cluster, run, expectRows, a }) => {
    await run(a, ...statements);
    await cluster.reset();
    const [first] = cluster.sessions;
    assert.ok(first);
    assert.deepEqual([first.pid, first.state], [a.pid, 'idle'], 'the same session, idle');
    await expectRows(first, sql, rows);
  };
}

/** A idle in its transaction, B waiting for it, C asleep, D with calls queued behind a wait. */
async function makeBusy({ run, sendWaiting, a, b, c, d }: Stage): Promise<Statement[]> {
  await run(a, 'create table t (n int); insert into t values (1)', 'begin', 'update t set n = 2');
  const update = await sendWaiting(b, 'update t set n = 3', { blockedBy: [a] });
  const sleep = send(c, 'select pg_sleep(60)');
  await run(d, 'begin');
  const lock = await sendWaiting(d, 'lock table t', { lockType: 'relation' });
  return [update, sleep, lock];
}

export const resetting: Topic = {
  name: 'reset()',
  scenes: {
    'cancels what runs and leaves every session idle': async (stage) => {
      const { cluster, expectError, expectRows } = stage;
      const busy = await makeBusy(stage);
      await cluster.reset();
      for (const statement of busy) await expectError(statement, '57014');
      for (const session of cluster.sessions) {
        assert.equal(session.state, 'idle');
        await expectRows(session, 'select pg_current_xact_id_if_assigned(), now() = statement_timestamp()', [
          [null, true],
        ]);
      }
      assert.deepEqual(await cluster.waits(), []);
    },

    'rolls back an aborted transaction': cleans(['begin', 'savepoint s'], 'select 1', [[1]]),
    'ends isolation and read-only transactions': cleans(
      ['begin isolation level serializable read only'],
      'show transaction_read_only',
      [['off']],
    ),

    'empties the schema public': cleans(
      [
        'create table t (id serial primary key); create view v as select * from t; create index on t (id)',
        "create type mood as enum ('ok'); create function f() returns int language sql as 'select 1'",
        'create materialized view m as select 1; create sequence s; create domain d as int',
      ],
      PUBLIC,
      [],
    ),

    'leaves a schema public in which to create': async ({ cluster, run, expectRows, a, b }) => {
      await run(a, 'create table t (n int)');
      await cluster.reset();
      await run(a, 'create table t (other int)');
      await run(b, 'insert into t values (1)');
      await expectRows(a, 'select other from t', [[1]]);
    },

    'brings back a schema public that was dropped': cleans(
      ['drop schema public cascade'],
      'create table t (); select current_schema()',
      [['public']],
    ),
    'drops temp tables': cleans(['create temp table basket ()'], "select to_regclass('basket')", [[null]]),
    'forgets prepared statements': cleans(
      ['prepare p as select 1'],
      'select name from pg_prepared_statements where from_sql',
      [],
    ),
    'closes cursors': cleans(['declare c cursor with hold for select 1'], 'select name from pg_cursors', []),
    'forgets LISTEN': cleans(['listen orders'], 'select pg_listening_channels()', []),
    'takes back settings': cleans(
      [
        "set work_mem = '1MB'; set deadlock_timeout = '5s'; set lock_timeout = '1ms'; set search_path = pg_catalog; set default_transaction_isolation = serializable",
      ],
      `select current_setting('deadlock_timeout') as deadlock, current_setting('lock_timeout') as lock,
         current_setting('default_transaction_isolation') as isolation, current_setting('search_path') = 'pg_catalog' as path`,
      [['200ms', '0', 'read committed', false]],
    ),
    'takes back custom settings': cleans(
      ["set app.tenant = 'one'"],
      "select coalesce(current_setting('app.tenant', true), '')",
      [['']],
    ),
    'releases advisory locks': cleans(
      ['select pg_advisory_lock(1), pg_advisory_lock_shared(2)'],
      "select count(*)::int from pg_locks where locktype = 'advisory'",
      [[0]],
    ),
    'forgets sequences': cleans(
      ['create sequence s', "select nextval('s')"],
      "create sequence s; select nextval('s')",
      [['1']],
    ),

    'can be called twice, and on a fresh cluster': async ({ cluster, expectRows, a }) => {
      await cluster.reset();
      await cluster.reset();
      await expectRows(a, 'select 1', [[1]]);
    },
  },
};
