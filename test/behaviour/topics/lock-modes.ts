import assert from 'node:assert/strict';
import type { Session } from '../../../src/engine/types.ts';
import { rowsOf, type Stage } from '../stage.ts';
import type { Scene, Topic } from '../topic.ts';

const JOBS =
  'create table job (id int primary key, done bool not null default false); insert into job values (1), (2), (3)';
const MODES = ['key share', 'share', 'no key update', 'update'] as const;

/** The manual's table "Conflicting Row-Level Locks": which requests each held mode refuses. */
const REFUSED: Readonly<Record<(typeof MODES)[number], readonly string[]>> = {
  'key share': ['update'],
  share: ['no key update', 'update'],
  'no key update': ['share', 'no key update', 'update'],
  update: ['key share', 'share', 'no key update', 'update'],
};

const lockJob = (mode: string, id = 1) => `select id from job where id = ${id} for ${mode}`;

async function refusedModes({ run, b }: Stage): Promise<string[]> {
  const refused: string[] = [];
  for (const mode of MODES) {
    const { rows } = await run(b, `${lockJob(mode)} skip locked`);
    if (rows.length === 0) refused.push(mode);
  }
  return refused;
}

function compatibility(held: (typeof MODES)[number]): Scene {
  return async (stage) => {
    await stage.run(stage.a, JOBS, 'begin', lockJob(held));
    assert.deepEqual(await refusedModes(stage), REFUSED[held]);
  };
}

async function claim({ run }: Stage, session: Session): Promise<unknown[][]> {
  return rowsOf(await run(session, 'select id from job where not done order by id limit 1 for update skip locked'));
}

export const lockModes: Topic = {
  name: 'row lock modes',
  scenes: {
    'FOR KEY SHARE refuses': compatibility('key share'),
    'FOR SHARE refuses': compatibility('share'),
    'FOR NO KEY UPDATE refuses': compatibility('no key update'),
    'FOR UPDATE refuses': compatibility('update'),

    'an update of no key column locks as FOR NO KEY UPDATE': async (stage) => {
      await stage.run(stage.a, JOBS, 'begin', 'update job set done = true where id = 1');
      assert.deepEqual(await refusedModes(stage), REFUSED['no key update']);
    },

    'an update of a key column locks as FOR UPDATE': async (stage) => {
      await stage.run(stage.a, JOBS, 'begin', 'update job set id = 9 where id = 1');
      assert.deepEqual(await refusedModes(stage), REFUSED['update']);
      await stage.run(stage.a, 'rollback');
      assert.deepEqual(await refusedModes(stage), [], 'it was the lock that refused');
    },

    'NOWAIT fails at once on a locked row': async ({ run, fails, a, b }) => {
      await run(a, JOBS, 'begin', lockJob('update'));
      await fails(b, `${lockJob('update')} nowait`, '55P03', {
        message: 'could not obtain lock on row in relation "job"',
      });
      await run(b, `${lockJob('update', 2)} nowait`);
    },

    'LOCK TABLE NOWAIT fails at once on a locked table': async ({ run, fails, a, b }) => {
      await run(a, JOBS, 'begin', 'lock table job in share mode');
      await run(b, 'begin');
      await fails(b, 'lock table job in row exclusive mode nowait', '55P03', {
        message: 'could not obtain lock on relation "job"',
      });
    },

    'SKIP LOCKED hands each worker another job': async (stage) => {
      const { run, a, b, c, d } = stage;
      await run(a, JOBS);
      for (const session of [a, b, c, d]) await run(session, 'begin');
      assert.deepEqual(await claim(stage, a), [[1]]);
      assert.deepEqual(await claim(stage, b), [[2]]);
      assert.deepEqual(await claim(stage, c), [[3]]);
      assert.deepEqual(await claim(stage, d), []);
      await run(b, 'rollback');
      assert.deepEqual(await claim(stage, d), [[2]]);
    },

    'a writer waits for every sharer in turn': async ({ run, sendWaiting, expectWaits, expectDone, a, b, c }) => {
      await run(a, JOBS, 'begin', lockJob('share'));
      await run(b, 'begin', lockJob('share'));
      const update = await sendWaiting(c, 'update job set done = true where id = 1', { lockType: 'transactionid' });
      await run(a, 'commit');
      await expectWaits(update, { lockType: 'transactionid', blockedBy: [b] });
      await run(b, 'commit');
      assert.equal((await expectDone(update)).rowCount, 1);
    },

    'a sharer that comes while a writer waits is let in': async ({
      run,
      sendWaiting,
      expectWaits,
      expectDone,
      a,
      b,
      c,
    }) => {
      await run(a, JOBS, 'begin', lockJob('share'));
      await run(c, 'begin');
      const update = await sendWaiting(b, 'update job set done = true where id = 1', { blockedBy: [a] });
      await run(c, lockJob('key share'), lockJob('share'));
      await run(a, 'commit');
      await expectWaits(update, { blockedBy: [c] });
      await run(c, 'commit');
      await expectDone(update);
    },

    'table locks conflict as the manual says': async ({ run, sendWaiting, expectDone, a, b, c }) => {
      await run(a, JOBS, 'begin', 'lock table job in share row exclusive mode');
      await run(c, 'select count(*) from job');
      const write = await sendWaiting(b, 'insert into job values (4)', {
        blockedBy: [a],
        lockType: 'relation',
        mode: 'RowExclusiveLock',
        relation: 'job',
      });
      await run(a, 'commit');
      await expectDone(write);
    },
  },
};
