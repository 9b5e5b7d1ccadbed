import { send } from '../schedule.ts';
import type { Topic } from '../topic.ts';

const STOCK = 'create table stock (sku int primary key, qty int not null); insert into stock values (1, 10), (2, 10)';
const TOTAL = 'create table total (qty int); insert into total values (20)';

const onStock = (body: string, when = 'after insert or update or delete') => `
  create function follow() returns trigger language plpgsql as $$ begin ${body} end $$;
  create trigger follow ${when} on stock for each row execute function follow()`;

const KEEP_TOTAL = onStock('update total set qty = qty + new.qty - old.qty; return new;', 'after update');

export const triggers: Topic = {
  name: 'triggers',
  scenes: {
    'a trigger that keeps a total makes writers of other rows wait': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
    }) => {
      await run(a, STOCK, TOTAL, KEEP_TOTAL, 'begin', 'update stock set qty = 9 where sku = 1');
      const other = await sendWaiting(b, 'update stock set qty = 8 where sku = 2', { blockedBy: [a] });
      await run(a, 'commit');
      await expectDone(other);
      await expectRows(a, 'select qty from total', [[17]]);
    },

    'an error after the wait in a trigger undoes the statement': async ({
      run,
      sendWaiting,
      expectError,
      expectRows,
      a,
      b,
    }) => {
      const check =
        "perform pg_advisory_lock(1); raise exception 'no stock' using errcode = 'P0777', detail = 'sku ' || new.sku;";
      await run(a, STOCK, onStock(check, 'before update'), 'select pg_advisory_lock(1)');
      const update = await sendWaiting(b, 'update stock set qty = 0 where sku = 1', {
        blockedBy: [a],
        lockType: 'advisory',
      });
      await run(a, 'select pg_advisory_unlock(1)');
      await expectError(update, 'P0777', {
        message: 'no stock',
        detail: 'sku 1',
        where: /PL\/pgSQL function follow\(\)/,
      });
      await expectRows(a, 'select qty from stock where sku = 1', [[10]]);
    },

    'a BEFORE trigger sees the version that the statement waited for': async ({
      run,
      sendWaiting,
      expectDone,
      expectRows,
      a,
      b,
    }) => {
      await run(
        a,
        STOCK,
        onStock('new.qty = old.qty - 1; return new;', 'before update'),
        'begin',
        'update stock set qty = 0 where sku = 1',
      );
      const update = await sendWaiting(b, 'update stock set qty = 0 where sku = 1', { blockedBy: [a] });
      await run(a, 'commit');
      await expectDone(update);
      await expectRows(a, 'select qty from stock where sku = 1', [[8]]);
    },

    'a BEFORE trigger that returns null skips the row': async ({ run, expectRows, a }) => {
      await run(a, STOCK, onStock('if new.qty < 0 then return null; end if; return new;', 'before update'));
      await expectRows(a, 'update stock set qty = qty - 10 * sku returning sku', [[1]]);
    },

    'a deferred constraint trigger runs, and waits, at commit': async ({ run, expectWaits, expectDone, a, b }) => {
      await run(
        a,
        STOCK,
        'create function late() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return null; end $$',
      );
      await run(
        a,
        'create constraint trigger late after update on stock deferrable initially deferred for each row execute function late()',
      );
      await run(a, 'select pg_advisory_lock(1)');
      await run(b, 'begin', 'update stock set qty = 0 where sku = 1');
      const commit = send(b, 'commit');
      await expectWaits(commit, { blockedBy: [a], lockType: 'advisory' });
      await run(a, 'select pg_advisory_unlock(1)');
      await expectDone(commit);
    },

    'a statement trigger sees all changed rows': async ({ run, expectRows, a }) => {
      await run(
        a,
        STOCK,
        'create table log (n bigint)',
        `
        create function count_them() returns trigger language plpgsql as $$ begin insert into log select count(*) from changed; return null; end $$;
        create trigger count_them after update on stock referencing new table as changed for each statement execute function count_them()`,
      );
      await run(a, 'update stock set qty = 0');
      await expectRows(a, 'select n from log', [['2']]);
    },
  },
};
