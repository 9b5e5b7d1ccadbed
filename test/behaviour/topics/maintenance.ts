import assert from 'node:assert/strict';
import type { Session } from '../../../src/engine/types.ts';
import type { Stage } from '../stage.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int, qty int); insert into stock values (1, 10), (2, 10)';
const COUNTS = /(\d+) removed, (\d+) remain, (\d+) are dead but not yet removable/;

/** Vacuums and gives the counts of VACUUM VERBOSE: rows removed, remaining, and dead but still needed. */
async function vacuum({ run }: Stage, session: Session): Promise<number[]> {
  const texts: string[] = [];
  const dispose = session.onNotice((notice) => texts.push(notice.message));
  await run(session, 'vacuum verbose stock');
  dispose();
  const [, ...counts] = COUNTS.exec(texts.join('\n')) ?? [];
  return counts.map(Number);
}

export const maintenance: Topic = {
  name: 'VACUUM and old snapshots',
  scenes: {
    'dead rows stay while an old snapshot may want them': async (stage) => {
      const { run, expectRows, a, b } = stage;
      await run(a, STOCK, 'begin isolation level repeatable read', 'select 1 from stock');
      await run(b, 'delete from stock where sku = 1');
      assert.deepEqual(await vacuum(stage, b), [0, 2, 1]);
      await expectRows(a, 'select sku from stock order by sku', [[1], [2]]);
      await run(a, 'commit');
      assert.deepEqual(await vacuum(stage, b), [1, 1, 0]);
    },

    'a READ COMMITTED transaction between statements holds nothing back': async (stage) => {
      const { run, a, b } = stage;
      await run(a, STOCK, 'begin', 'select 1 from pg_class limit 1');
      await run(b, 'delete from stock where sku = 1');
      assert.deepEqual(await vacuum(stage, b), [1, 1, 0]);
    },

    'VACUUM goes beside an open writer': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 9 where sku = 1');
      await run(b, 'vacuum stock');
      await run(a, 'commit');
      await expectRows(b, 'select qty from stock order by sku', [[9], [10]]);
    },

    'VACUUM FULL waits for an open reader': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'begin', 'select 1 from stock');
      const full = await sendWaiting(b, 'vacuum full stock', {
        blockedBy: [a],
        mode: 'AccessExclusiveLock',
        relation: 'stock',
      });
      await run(a, 'commit');
      await expectDone(full);
    },

    'two VACUUMs of one table wait for each other': async ({ run, sendWaiting, expectDone, a, b }) => {
      await run(a, STOCK, 'begin', 'lock table stock in share update exclusive mode');
      const second = await sendWaiting(b, 'vacuum stock', { blockedBy: [a], mode: 'ShareUpdateExclusiveLock' });
      await run(a, 'commit');
      await expectDone(second);
    },

    'VACUUM refuses a transaction': async ({ run, fails, a }) => {
      await run(a, STOCK, 'begin');
      await fails(a, 'vacuum stock', '25001', { message: 'VACUUM cannot run inside a transaction block' });
    },

    'ANALYZE lets the planner know for all sessions': async ({ run, expectRows, a, b }) => {
      await run(a, 'create table big as select i from generate_series(1, 5000) i', 'analyze big');
      await expectRows(b, "select reltuples::int from pg_class where oid = 'big'::regclass", [[5000]]);
    },

    'CHECKPOINT goes beside open transactions': async ({ run, expectRows, a, b }) => {
      await run(a, STOCK, 'begin', 'update stock set qty = 9 where sku = 1');
      await run(b, 'checkpoint');
      await run(a, 'commit');
      await expectRows(b, 'select qty from stock where sku = 1', [[9]]);
    },
  },
};
