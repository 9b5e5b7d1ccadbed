import assert from 'node:assert/strict';
import { rowsOf } from '../stage.ts';
import type { Topic } from '../topic.ts';

const LOCK = 'select pg_advisory_lock(7)';
const UNLOCK = 'select pg_advisory_unlock(7)';
const TRY = 'select pg_try_advisory_lock(7)';

export const advisoryLocks: Topic = {
  name: 'advisory locks',
  scenes: {
    'a session lock outlives its transaction': async ({ run, sendWaiting, expectDone, expectRows, a, b }) => {
      await run(a, 'begin', LOCK, 'rollback');
      const waiter = await sendWaiting(b, LOCK, {
        blockedBy: [a],
        lockType: 'advisory',
        mode: 'ExclusiveLock',
        relation: null,
      });
      await expectRows(a, UNLOCK, [[true]]);
      await expectDone(waiter);
    },

    'a transaction lock ends with its transaction': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, 'begin', 'select pg_advisory_xact_lock(7)');
      const waiter = await sendWaiting(b, LOCK, { blockedBy: [a] });
      await run(a, 'rollback');
      await expectDone(waiter);
    },

    'a session lock counts how often it was taken': async ({ run, expectRows, sendWaiting, expectDone, a, b }) => {
      await run(a, LOCK, LOCK, UNLOCK);
      const waiter = await sendWaiting(b, LOCK, { blockedBy: [a] });
      await expectRows(a, UNLOCK, [[true]]);
      await expectDone(waiter);
    },

    'pg_try_advisory_lock does not wait': async ({ run, expectRows, a, b }) => {
      await run(a, LOCK);
      await expectRows(b, TRY, [[false]]);
      await run(a, UNLOCK);
      await expectRows(b, TRY, [[true]]);
    },

    'shared locks go together, an exclusive one waits for all': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
      c,
      d,
    }) => {
      for (const session of [a, b]) await run(session, 'select pg_advisory_lock_shared(7)');
      const writer = await sendWaiting(c, LOCK, { blockedBy: [a, b] });
      const reader = await sendWaiting(d, 'select pg_advisory_lock_shared(7)', { blockedBy: [c] });
      for (const session of [a, b]) await expectRows(session, 'select pg_advisory_unlock_shared(7)', [[true]]);
      await expectDone(writer);
      await run(c, UNLOCK);
      await expectDone(reader);
    },

    'waiters are served in the order of their arrival': async ({
      run,
      sendWaiting,
      expectWaits,
      expectDone,
      a,
      b,
      c,
    }) => {
      await run(a, LOCK);
      const first = await sendWaiting(b, LOCK, { blockedBy: [a] });
      const second = await sendWaiting(c, LOCK, { blockedBy: [a, b] });
      await run(a, UNLOCK);
      await expectDone(first);
      await expectWaits(second, { blockedBy: [b] });
      await run(b, UNLOCK);
      await expectDone(second);
    },

    'one key of 64 bits and two of 32 are different locks': async ({ run, expectRows, a, b }) => {
      await run(a, 'select pg_advisory_lock(4294967298)');
      await expectRows(b, 'select pg_try_advisory_lock(1, 2) as two, pg_try_advisory_lock(4294967298) as one', [
        [true, false],
      ]);
    },

    'to unlock what is not held warns and is false': async ({ run, a }) => {
      const warnings: string[] = [];
      const dispose = a.onNotice((notice) => warnings.push(`${notice.severity} ${notice.message}`));
      assert.deepEqual(rowsOf(await run(a, UNLOCK)), [[false]]);
      dispose();
      assert.deepEqual(warnings, ["WARNING you don't own a lock of type ExclusiveLock"]);
    },

    'pg_advisory_unlock_all lets everything go': async ({ run, expectRows, a, b }) => {
      await run(a, LOCK, LOCK, 'select pg_advisory_lock(8)', 'select pg_advisory_unlock_all()');
      await expectRows(b, 'select pg_try_advisory_lock(7) as seven, pg_try_advisory_lock(8) as eight', [[true, true]]);
    },
  },
};
