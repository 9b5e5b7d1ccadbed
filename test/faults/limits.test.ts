/** Store, memory and stack at their ends. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Cluster } from '../../src/engine/types.ts';
import { MIB, fails, isUsable, open, pairOf, withCluster, within } from './support.ts';

const FILL = `insert into t select i, repeat('x', 500) from generate_series(1, 100000) i`;

test('a full store is 53100 for one statement; session and cluster go on', async () => {
  await withCluster({ sessions: 2, storeLimit: 24 * MIB }, async (cluster, a, b) => {
    await a.exec('create table t (n int, filler text); insert into t values (0)');
    await fails(a.exec(FILL), '53100', /could not extend file .* No space left on device/);
    await fails(b.exec(`create temp table f as select repeat('x', 500) from generate_series(1, 100000)`), '53100');
    await fails(
      b.exec(`select count(*) from (select i, repeat('x', 500) from generate_series(1, 100000) i order by 2, 1) s`),
      '53100',
    );
    await a.exec('checkpoint');
    assert.deepEqual((await b.query('select count(*)::int as n from t')).rows, [{ n: 1 }], 'nothing half done');
    await isUsable(cluster);
  });
});

test('a full write-ahead log, as Postgres sees it, is the end of the server: it says so in its words', async () => {
  await withCluster({ sessions: 2, storeLimit: 24 * MIB }, async (cluster, a, b) => {
    const pending = b.query('select pg_sleep(60)');
    pending.catch(() => {});
    const fill = `do $$ begin loop perform pg_logical_emit_message(false, 'fill', repeat('x', 1000000)); end loop; end $$`;
    await fails(a.exec(fill), 'CLUSTER_FAILED', /PANIC: .*pg_wal.* No space left on device.*Open a new cluster/);
    await fails(pending, 'CLUSTER_FAILED');
    await fails(cluster.reset(), 'CLUSTER_FAILED');
  });
});

test('much log is no fault between runs: a reset makes room', async () => {
  await withCluster({ sessions: 1, storeLimit: 24 * MIB }, async (cluster, a) => {
    for (let run = 0; run < 4; run++) {
      await a.exec(
        `do $$ begin for i in 1..30 loop perform pg_logical_emit_message(false, 'x', repeat('x', 1000000)); end loop; end $$`,
      );
      await isUsable(cluster);
    }
  });
});

describe('exhausted memory is 53200', () => {
  let cluster: Cluster;
  before(async () => void (cluster = await open({ sessions: 2 })));
  after(() => cluster.close());

  const EXHAUSTS = {
    'one value': `select length(repeat('x', 300000000))`,
    'an aggregate': `select length(string_agg(repeat('x', 1000), '')) from generate_series(1, 400000)`,
    'a sort': `set work_mem = '1GB'; select count(*) from (select i, repeat('x', 100) from generate_series(1, 3000000) i order by 2, 1 desc) s`,
    'a function': `do $$ declare a text := 'x'; begin loop a := a || a; end loop; end $$`,
    'a result': `select repeat('x', 200000000)`,
  };
  for (const [what, sql] of Object.entries(EXHAUSTS)) {
    test(`by ${what}`, async () => {
      const [a, b] = pairOf(cluster);
      await fails(a.exec(sql), '53200', /out of memory/);
      await within(b.query('select 1'));
      await isUsable(cluster);
    });
  }
});

const nested = (count: number, open: string, middle: string, close: string): string =>
  `${open.repeat(count)}${middle}${close.repeat(count)}`;

describe('an exhausted stack', () => {
  let cluster: Cluster;
  before(async () => void (cluster = await open({ sessions: 2 })));
  after(() => cluster.close());

  const RECURSIONS = {
    'a plpgsql function':
      'create function f(n int) returns int language plpgsql as $$ begin return f(n + 1); end $$; select f(1)',
    'a function that catches': `create function f(n int) returns int language plpgsql as
      $$ begin begin return f(n + 1); exception when others then raise; end; end $$; select f(1)`,
    EXECUTE: `create function f(n int) returns int language plpgsql as
      $$ declare r int; begin execute 'select f($1)' into r using n + 1; return r; end $$; select f(1)`,
    'a trigger': `create table t (n int); create function g() returns trigger language plpgsql as
      $$ begin insert into t values (new.n + 1); return new; end $$;
      create trigger t before insert on t for each row execute function g(); insert into t values (1)`,
    subqueries: `select * from ${nested(1500, '(select * from ', '(select 1) z', ') z')}`,
  };
  for (const [what, sql] of Object.entries(RECURSIONS)) {
    test(`by ${what} is 54001`, async () => {
      const [a] = pairOf(cluster);
      await fails(a.exec(sql), '54001', /stack depth limit exceeded/);
      await isUsable(cluster);
    });
  }

  test('what the parser cannot nest is an error of syntax', async () => {
    const [a] = pairOf(cluster);
    await fails(a.query(`select ${nested(20_000, '(', '1', ')')}`), '42601', /memory exhausted/);
    await fails(a.query(`select ${nested(20_000, 'case when true then ', '1', ' end')}`), '42601');
    await isUsable(cluster);
  });
});

/** Shapes that use little of Postgres' stack and much of the engine's. */
const OVERFLOWS = {
  'chained operators': `select 1${'+1'.repeat(10_000)}`,
  'nested JSON': `select '${nested(100_000, '[', '', ']')}'::jsonb`,
  'a nested pattern': `select 'a' ~ '${nested(50_000, '(', 'a', ')')}'`,
  'an SQL function': 'create function f(n int) returns int language sql as $$ select f(n + 1) $$; select f(1)',
};
for (const [what, sql] of Object.entries(OVERFLOWS)) {
  test(`${what} may end the cluster, which says that it was the stack`, async () => {
    await withCluster({ sessions: 2 }, async (cluster, a, b) => {
      await fails(a.exec(sql), 'CLUSTER_FAILED', /stack is exhausted.*Open a new cluster/);
      await fails(b.query('select 1'), 'CLUSTER_FAILED');
      await fails(cluster.reset(), 'CLUSTER_FAILED');
    });
  });
}
