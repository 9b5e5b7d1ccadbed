import assert from 'node:assert/strict';
import { rowsOf } from '../stage.ts';
import type { Topic } from '../topic.ts';

const PROFILE = 'create table profile (handle text primary key, hits int not null default 1)';
const INSERT = "insert into profile values ('kim')";
const INSERT_OR_NOTHING = `${INSERT} on conflict do nothing returning hits`;
const UPSERT = `${INSERT} on conflict (handle) do update set hits = profile.hits + 1 returning hits`;

export const conflicts: Topic = {
  name: 'unique keys and ON CONFLICT',
  scenes: {
    'a second insert waits and fails when the first commits': async ({ run, sendWaiting, expectError, a, b }) => {
      await run(a, PROFILE, 'begin', INSERT);
      const second = await sendWaiting(b, INSERT, { blockedBy: [a], lockType: 'transactionid', mode: 'ShareLock' });
      await run(a, 'commit');
      await expectError(second, '23505', {
        message: 'duplicate key value violates unique constraint "profile_pkey"',
        detail: 'Key (handle)=(kim) already exists.',
        constraint: 'profile_pkey',
        schema: 'public',
        table: 'profile',
        severity: 'ERROR',
      });
    },

    'a second insert goes on when the first rolls back': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, PROFILE, 'begin', INSERT);
      const second = await sendWaiting(b, INSERT, { blockedBy: [a] });
      await run(a, 'rollback');
      assert.equal((await expectDone(second)).rowCount, 1);
    },

    'DO NOTHING waits and does nothing when the first commits': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, PROFILE, 'begin', INSERT);
      const second = await sendWaiting(b, INSERT_OR_NOTHING, { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(second)), []);
    },

    'DO NOTHING waits and inserts when the first rolls back': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, PROFILE, 'begin', INSERT);
      const second = await sendWaiting(b, INSERT_OR_NOTHING, { blockedBy: [a] });
      await run(a, 'rollback');
      assert.deepEqual(rowsOf(await expectDone(second)), [[1]]);
    },

    'DO UPDATE waits and updates when the first commits': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, PROFILE, 'begin', UPSERT);
      const second = await sendWaiting(b, UPSERT, { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(second)), [[2]]);
    },

    'DO UPDATE waits and inserts when the first rolls back': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, PROFILE, 'begin', UPSERT);
      const second = await sendWaiting(b, UPSERT, { blockedBy: [a] });
      await run(a, 'rollback');
      assert.deepEqual(rowsOf(await expectDone(second)), [[1]]);
    },

    'DO UPDATE checks its WHERE on the version that it waited for': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, PROFILE, INSERT, 'begin', 'update profile set hits = 5');
      const sql = `${INSERT} on conflict (handle) do update set hits = 0 where profile.hits < 5 returning hits`;
      const second = await sendWaiting(b, sql, { blockedBy: [a] });
      await run(a, 'commit');
      assert.deepEqual(rowsOf(await expectDone(second)), []);
    },

    'under REPEATABLE READ a conflict outside the snapshot is 40001': async ({
      run,
      sendWaiting,
      expectError,
      a,
      b,
    }) => {
      await run(a, PROFILE);
      await run(b, 'begin isolation level repeatable read', 'select count(*) from profile');
      await run(a, 'begin', INSERT);
      const second = await sendWaiting(b, INSERT_OR_NOTHING, { blockedBy: [a] });
      await run(a, 'commit');
      await expectError(second, '40001', { message: 'could not serialize access due to concurrent update' });
    },

    'a deleted key can be taken once the delete has committed': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, PROFILE, INSERT, 'begin', 'delete from profile');
      const second = await sendWaiting(b, INSERT, { blockedBy: [a] });
      await run(a, 'commit');
      assert.equal((await expectDone(second)).rowCount, 1);
    },

    'a deferred unique key is checked at commit, which waits': async ({
      run,
      sendWaiting,
      expectError,
      fails,
      a,
      b,
    }) => {
      await run(
        a,
        'create table seat (no int unique deferrable initially deferred)',
        'begin',
        'insert into seat values (1)',
      );
      await run(b, 'begin', 'insert into seat values (1)');
      const commit = await sendWaiting(b, 'commit', { blockedBy: [a], lockType: 'transactionid' });
      await run(a, 'commit');
      await expectError(commit, '23505', { constraint: 'seat_no_key', detail: 'Key (no)=(1) already exists.' });
      await run(b, 'insert into seat values (2)');
      await fails(b, 'insert into seat values (2)', '23505');
    },

    'two inserts in opposite order deadlock': async ({ run, sendWaiting, expectDone, fails, a, b }) => {
      await run(a, PROFILE, 'begin', "set local deadlock_timeout = '60s'", "insert into profile values ('ann')");
      await run(b, 'begin', "set local deadlock_timeout = '10ms'", "insert into profile values ('bob')");
      const first = await sendWaiting(a, "insert into profile values ('bob')", { blockedBy: [b] });
      await fails(b, "insert into profile values ('ann')", '40P01', {
        where: /while inserting index tuple .* in relation "profile/,
      });
      await expectDone(first);
    },
  },
};
