import assert from 'node:assert/strict';
import type { Session } from '../../../src/engine/types.ts';
import { untilAllSettled, send, type Failure } from '../schedule.ts';
import type { Stage } from '../stage.ts';
import type { Topic } from '../topic.ts';

const STOCK =
  'create table stock (sku int primary key, qty int not null); insert into stock values (1, 0), (2, 0), (3, 0)';
const LINE = /^Process (\d+) waits for (\w+) on (\w+) (.+?); blocked by process (\d+)\.$/;

const take = (sku: number) => `update stock set qty = qty + 1 where sku = ${sku}`;

/** Each session in a transaction; only the last one looks for deadlocks soon, so it is the victim. */
async function beginAll({ run }: Stage, ...sessions: readonly Session[]): Promise<void> {
  for (const session of sessions) {
    const timeout = session === sessions.at(-1) ? '10ms' : '60s';
    await run(session, 'begin', `set local deadlock_timeout = '${timeout}'`);
  }
}

/** `[waiter, mode, lock type, blocker]` of each line of the DETAIL. */
function cycleOf({ detail = '' }: Failure): unknown[][] {
  return detail.split('\n').map((line) => {
    const [, waiter, mode, type, , blocker] = LINE.exec(line) ?? [];
    return [Number(waiter), mode, type, Number(blocker)];
  });
}

/** A and B each hold a row and want the other's; B is the victim. */
async function crossTwo(stage: Stage): Promise<{ failure: Failure }> {
  const { run, sendWaiting, expectDone, fails, a, b } = stage;
  await run(a, STOCK);
  await beginAll(stage, a, b);
  await run(a, take(1));
  await run(b, take(2));
  const survivor = await sendWaiting(a, take(2), { blockedBy: [b] });
  const failure = await fails(b, take(1), '40P01', { message: 'deadlock detected', severity: 'ERROR' });
  await expectDone(survivor);
  return { failure };
}

export const deadlocks: Topic = {
  name: 'deadlocks',
  scenes: {
    'of two: one victim, and DETAIL names both sides': async (stage) => {
      const { a, b } = stage;
      const { failure } = await crossTwo(stage);
      assert.deepEqual(cycleOf(failure), [
        [b.pid, 'ShareLock', 'transaction', a.pid],
        [a.pid, 'ShareLock', 'transaction', b.pid],
      ]);
      assert.equal(failure.hint, 'See server log for query details.');
      assert.equal(failure.where, 'while updating tuple (0,1) in relation "stock"');
    },

    'the victim must roll back, then may try again': async (stage) => {
      const { run, fails, expectRows, a, b } = stage;
      await crossTwo(stage);
      await fails(b, 'select 1', '25P02');
      await run(a, 'commit');
      await run(b, 'rollback', 'begin', take(1), take(2), 'commit');
      await expectRows(a, 'select qty from stock order by sku', [[2], [2], [0]]);
    },

    'of three: a cycle of three, the others go on one after the other': async (stage) => {
      const { run, sendWaiting, expectDone, expectWaits, fails, a, b, c } = stage;
      await run(a, STOCK);
      await beginAll(stage, a, b, c);
      for (const [session, sku] of [
        [a, 1],
        [b, 2],
        [c, 3],
      ] as const)
        await run(session, take(sku));
      const first = await sendWaiting(a, take(2), { blockedBy: [b] });
      const second = await sendWaiting(b, take(3), { blockedBy: [c] });
      const failure = await fails(c, take(1), '40P01');
      const cycle = [
        [c, a],
        [a, b],
        [b, c],
      ] as const;
      assert.deepEqual(
        cycleOf(failure),
        cycle.map(([x, y]) => [x.pid, 'ShareLock', 'transaction', y.pid]),
      );
      await expectDone(second);
      await expectWaits(first, { blockedBy: [b] });
      await run(b, 'commit');
      await expectDone(first);
    },

    'with the same timeout everywhere there is exactly one victim': async ({ run, a, b, cluster }) => {
      await run(a, STOCK, 'begin', take(1));
      await run(b, 'begin', take(2));
      const both = [send(a, take(2)), send(b, take(1))];
      await untilAllSettled(cluster, both);
      assert.deepEqual(both.map((statement) => statement.outcome.kind).sort(), ['done', 'failed']);
    },

    'two sharers that both want to write': async (stage) => {
      const { run, sendWaiting, expectDone, fails, a, b } = stage;
      await run(a, STOCK);
      await beginAll(stage, a, b);
      for (const session of [a, b]) await run(session, 'select qty from stock where sku = 1 for share');
      const survivor = await sendWaiting(a, take(1), { blockedBy: [b] });
      await fails(b, take(1), '40P01');
      await expectDone(survivor);
    },

    'of advisory locks': async (stage) => {
      const { run, sendWaiting, expectDone, fails, a, b } = stage;
      await beginAll(stage, a, b);
      await run(a, 'select pg_advisory_xact_lock(1)');
      await run(b, 'select pg_advisory_xact_lock(2)');
      const survivor = await sendWaiting(a, 'select pg_advisory_xact_lock(2)');
      const failure = await fails(b, 'select pg_advisory_xact_lock(1)', '40P01');
      assert.deepEqual(
        cycleOf(failure).map(([, mode, type]) => [mode, type]),
        [
          ['ExclusiveLock', 'advisory'],
          ['ExclusiveLock', 'advisory'],
        ],
      );
      await expectDone(survivor);
    },

    'of a row and a table': async (stage) => {
      const { run, sendWaiting, expectDone, fails, a, b } = stage;
      await run(a, STOCK);
      await beginAll(stage, a, b);
      await run(a, take(1));
      await run(b, 'create table other ()', take(2));
      const survivor = await sendWaiting(a, take(2), { blockedBy: [b] });
      const failure = await fails(b, 'lock table stock in access exclusive mode', '40P01');
      assert.deepEqual(cycleOf(failure)[0], [b.pid, 'AccessExclusiveLock', 'relation', a.pid]);
      await expectDone(survivor);
    },

    'a soft deadlock is solved by letting a waiter jump the queue': async (stage) => {
      const { run, sendWaiting, expectDone, expectWaits, a, b, c, d } = stage;
      await run(a, 'create table t1 (); create table t2 ()');
      await beginAll(stage, a, c, d, b);
      await run(a, 'lock table t1 in access share mode');
      await run(b, 'lock table t2 in access share mode');
      const exclusive1 = await sendWaiting(c, 'lock table t1 in access exclusive mode', { blockedBy: [a] });
      const exclusive2 = await sendWaiting(d, 'lock table t2 in access exclusive mode', { blockedBy: [b] });
      const jumper = await sendWaiting(a, 'lock table t2 in access share mode', { blockedBy: [d] });
      const other = await sendWaiting(b, 'lock table t1 in access share mode', { blockedBy: [c] });
      await expectDone(jumper);
      await expectWaits(other, { blockedBy: [c] });
      await run(a, 'rollback');
      await expectDone(exclusive1);
      await run(c, 'rollback');
      await expectDone(other);
      await run(b, 'rollback');
      await expectDone(exclusive2);
    },

    'a savepoint gives the victim a way out': async (stage) => {
      const { run, sendWaiting, expectDone, fails, a, b } = stage;
      await run(a, STOCK);
      await beginAll(stage, a, b);
      await run(a, take(1));
      await run(b, take(3), 'savepoint s', take(2));
      const survivor = await sendWaiting(a, take(2), { blockedBy: [b] });
      await fails(b, take(1), '40P01');
      await run(b, 'rollback to s');
      await expectDone(survivor);
      await run(b, 'commit');
    },
  },
};
