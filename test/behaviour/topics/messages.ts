import assert from 'node:assert/strict';
import type { Notification, Session } from '../../../src/engine/types.ts';
import { isPending } from '../schedule.ts';
import type { Stage } from '../stage.ts';
import type { Scene, Topic } from '../topic.ts';

/** The session listens on `orders`; what it receives collects in the array. */
async function listen({ run }: Stage, session: Session): Promise<Notification[]> {
  const received: Notification[] = [];
  session.onNotification((notification) => received.push(notification));
  await run(session, 'listen orders');
  return received;
}

const payloads = (received: readonly Notification[]) => received.map((notification) => notification.payload);

/** A listens; B does `statements`; at last the payload `end` shows that nothing else is to come. */
function delivers(expected: readonly string[], ...statements: readonly string[]): Scene {
  return async (stage) => {
    const received = await listen(stage, stage.a);
    await stage.run(stage.b, ...statements, "notify orders, 'end'");
    await stage.until('the last notification', () => payloads(received).includes('end'));
    assert.deepEqual(payloads(received), [...expected, 'end']);
  };
}

export const messages: Topic = {
  name: 'notices, LISTEN and NOTIFY',
  scenes: {
    'an idle listener is told, with the pid of the sender': async (stage) => {
      const received = await listen(stage, stage.a);
      await stage.run(stage.b, "notify orders, 'sold'");
      await stage.until('the notification', () => received.length === 1);
      assert.deepEqual({ ...received[0] }, { channel: 'orders', payload: 'sold', processId: stage.b.pid });
    },

    'told after commit': delivers(
      ['one', 'two'],
      'begin',
      "notify orders, 'one'",
      "select pg_notify('orders', 'two')",
      'commit',
    ),
    'not told after rollback': delivers([], 'begin', "notify orders, 'lost'", 'rollback'),
    'not told after rollback to a savepoint': delivers(
      ['kept'],
      'begin',
      "notify orders, 'kept'",
      'savepoint s',
      "notify orders, 'lost'",
      'rollback to s',
      'commit',
    ),
    'told once in a transaction': delivers(['one'], 'begin', "notify orders, 'one'", "notify orders, 'one'", 'commit'),
    'not told of other channels': delivers([''], "notify payments, 'other'", 'notify orders'),

    'not told before commit': async (stage) => {
      const received = await listen(stage, stage.a);
      await stage.run(stage.b, 'begin', "notify orders, 'late'");
      await stage.run(stage.c, "notify orders, 'early'");
      await stage.until('the first notification', () => received.length > 0);
      await stage.run(stage.b, 'commit');
      await stage.until('the second notification', () => received.length > 1);
      assert.deepEqual(payloads(received), ['early', 'late']);
    },

    'a listener in a transaction is told when it ends': async (stage) => {
      const received = await listen(stage, stage.a);
      await stage.run(stage.a, 'begin');
      await stage.run(stage.b, "notify orders, 'sold'");
      await stage.run(stage.a, 'select 1');
      assert.deepEqual(payloads(received), []);
      await stage.run(stage.a, 'commit');
      await stage.until('the notification', () => received.length === 1);
    },

    'every listener is told, oneself too': async (stage) => {
      const all = [await listen(stage, stage.a), await listen(stage, stage.b), await listen(stage, stage.c)];
      await stage.run(stage.a, "notify orders, 'sold'");
      await stage.until('three notifications', () => all.every((received) => received.length === 1));
      assert.deepEqual(
        all.map((received) => received[0]?.processId),
        [stage.a.pid, stage.a.pid, stage.a.pid],
      );
    },

    'a trigger notifies': async (stage) => {
      const received = await listen(stage, stage.a);
      await stage.run(
        stage.b,
        'create table ord (id int)',
        `
        create function tell() returns trigger language plpgsql as $$ begin perform pg_notify('orders', new.id::text); return null; end $$;
        create trigger tell after insert on ord for each row execute function tell()`,
      );
      await stage.run(stage.b, 'insert into ord values (1), (2)');
      await stage.until('both notifications', () => received.length === 2);
      assert.deepEqual(payloads(received), ['1', '2']);
    },

    'UNLISTEN ends it': async (stage) => {
      const received = await listen(stage, stage.a);
      const others = await listen(stage, stage.c);
      await stage.run(stage.a, 'unlisten orders');
      await stage.run(stage.b, "notify orders, 'sold'");
      await stage.until('the notification of C', () => others.length === 1);
      await stage.run(stage.a, 'select 1');
      assert.deepEqual(received, []);
    },

    'a disposed listener is told nothing': async ({ run, until, a, b }) => {
      const seen: string[] = [];
      const dispose = a.onNotification(() => seen.push('disposed'));
      a.onNotification(() => seen.push('kept'));
      await run(a, 'listen orders');
      dispose();
      dispose();
      await run(b, 'notify orders');
      await until('the notification', () => seen.length > 0);
      assert.deepEqual(seen, ['kept']);
    },

    'a notice arrives while the statement that raised it still waits': async ({
      run,
      sendWaiting,
      expectDone,
      until,
      a,
      b,
    }) => {
      const seen: string[] = [];
      b.onNotice((notice) => seen.push(notice.message));
      await run(a, 'select pg_advisory_lock(1)');
      const body = "raise notice 'before'; perform pg_advisory_lock(1); raise notice 'after';";
      const waiter = await sendWaiting(b, `do $$ begin ${body} end $$`, { blockedBy: [a] });
      await until('the first notice', () => seen.length > 0);
      assert.deepEqual(seen, ['before']);
      assert.ok(isPending(waiter));
      await run(a, 'select pg_advisory_unlock(1)');
      await expectDone(waiter);
      assert.deepEqual(seen, ['before', 'after']);
    },

    'a notice has its fields': async ({ run, a }) => {
      const seen: unknown[] = [];
      const dispose = a.onNotice((notice) => seen.push({ ...notice }));
      await run(
        a,
        "do $$ begin raise warning using message = 'low', detail = 'one left', hint = 'order more', errcode = '01777'; raise notice 'plain'; end $$",
      );
      dispose();
      assert.deepEqual(seen, [
        { severity: 'WARNING', code: '01777', message: 'low', detail: 'one left', hint: 'order more' },
        { severity: 'NOTICE', code: '00000', message: 'plain' },
      ]);
    },

    'client_min_messages is heeded': async ({ run, a }) => {
      const seen: string[] = [];
      const dispose = a.onNotice((notice) => seen.push(notice.message));
      await run(a, 'drop table if exists nothing', 'set client_min_messages = warning', 'drop table if exists nothing');
      dispose();
      assert.deepEqual(seen, ['table "nothing" does not exist, skipping']);
    },
  },
};
