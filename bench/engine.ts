/** How long sessions take to boot and to answer, and what changing between them costs. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { loadAssets } from '../src/engine/assets/node.ts';
import { openClusterFrom, type EngineAssets } from '../src/engine/index.ts';
import { startNativeServer } from '../test/native/server.ts';
import { median, perCall, time, type Finding } from './report.ts';

const BOOTS = 5;
const CALLS = 2000;
const RESETS = 100;
const MB = 1e6;
const SELECT = 'select 1 as one';
const SCHEMA = `
  create table products (id int primary key, stock int check (stock >= 0));
  create table orders (id serial primary key, product int references products);
  insert into products values (1, 1000000)`;
const UPDATE = 'update products set stock = stock - 1 where id = 1';

export async function benchEngine(): Promise<Finding[]> {
  const assets = await loadAssets();
  const stock = await benchStock();
  return [
    ...(await benchBoots(assets, stock.boot)),
    ...(await benchStatements(assets, stock.statement)),
    ...(await benchReset(assets)),
    ...(await benchMemory()),
    ...(await benchNative()),
  ];
}

interface Stock {
  readonly boot: number;
  readonly statement: number;
}

/** PGlite as it comes: one session, in the same process. It is given a data directory, as the engine is. */
async function benchStock(): Promise<Stock> {
  const first = await PGlite.create();
  const loadDataDir = await first.dumpDataDir('none');
  await first.close();
  const boots = await time(BOOTS, async () => (await PGlite.create({ loadDataDir })).close());
  const db = await PGlite.create({ loadDataDir });
  const statement = await perCall(CALLS, () => db.query(SELECT));
  await db.close();
  return { boot: median(boots), statement };
}

async function benchBoots(assets: EngineAssets, stock: number): Promise<Finding[]> {
  const boot = async (sessions: number, mode: 'eager' | 'lazy' = 'eager'): Promise<number> =>
    median(await time(BOOTS, async () => (await openClusterFrom(assets, { sessions, boot: mode })).close()));
  const leader = await boot(1, 'lazy');
  return [
    { what: 'boot: leader', value: leader, unit: 'ms', budget: 300 },
    { what: 'boot: 8 sessions', value: await boot(8), unit: 'ms', budget: 1200 },
    { what: 'boot: 40 sessions', value: await boot(40), unit: 'ms', budget: 5000 },
    { what: 'boot: PGlite as it comes', value: stock, unit: 'ms' },
    { what: 'boot: leader to PGlite', value: leader / stock, unit: '×' },
  ];
}

async function benchStatements(assets: EngineAssets, stock: number): Promise<Finding[]> {
  const cluster = await openClusterFrom(assets, { sessions: 8 });
  const session = (index: number) => cluster.sessions[index] ?? Promise.reject(new Error(`no session ${index}`));
  const query = async (index: number, sql: string): Promise<unknown> => (await session(index)).query(sql);
  await (await session(0)).exec(SCHEMA);
  const same = await perCall(CALLS, () => query(0, SELECT));
  const two = await perCall(CALLS, (call) => query(call % 2, SELECT));
  const before = { ...cluster.copied };
  const eight = await perCall(CALLS, (call) => query(call % 8, SELECT));
  const reads = { times: cluster.copied.times - before.times, bytes: cluster.copied.bytes - before.bytes };
  const written = { ...cluster.copied };
  const updates = await perCall(CALLS, (call) => query(call % 8, UPDATE));
  const writes = { times: cluster.copied.times - written.times, bytes: cluster.copied.bytes - written.bytes };
  await cluster.close();
  return [
    { what: 'statement: one session', value: same, unit: 'ms' },
    { what: 'statement: 2 sessions in turn', value: two, unit: 'ms' },
    { what: 'statement: 8 sessions in turn', value: eight, unit: 'ms', budget: 0.4 },
    { what: 'statement: 8 sessions in turn, update', value: updates, unit: 'ms' },
    { what: 'statement: PGlite as it comes', value: stock, unit: 'ms' },
    { what: 'statement: one session to PGlite', value: same / stock, unit: '×' },
    { what: 'copied: per change of session, select', value: reads.bytes / reads.times, unit: 'bytes', budget: 3 * MB },
    {
      what: 'copied: per change of session, update',
      value: writes.bytes / writes.times,
      unit: 'bytes',
      budget: 3 * MB,
    },
    // The calls that warm up count, too.
    { what: 'copied: times per statement', value: reads.times / (CALLS * 1.2), unit: 'copies', budget: 1 },
  ];
}

/** After a run that has made a schema and used every session. */
async function benchReset(assets: EngineAssets): Promise<Finding[]> {
  const cluster = await openClusterFrom(assets, { sessions: 8 });
  const taken: number[] = [];
  for (let run = 0; run < RESETS; run++) {
    await cluster.sessions[0]?.exec(SCHEMA);
    await Promise.all(cluster.sessions.map((session) => session.query(UPDATE)));
    taken.push(...(await time(1, () => cluster.reset())));
  }
  await cluster.close();
  return [
    { what: 'reset: 8 sessions, median', value: median(taken), unit: 'ms' },
    { what: 'reset: 8 sessions, mean', value: taken.reduce((sum, ms) => sum + ms, 0) / taken.length, unit: 'ms' },
    { what: 'reset: 8 sessions, longest', value: Math.max(...taken), unit: 'ms' },
  ];
}

/** Each in a process of its own. */
async function benchMemory(): Promise<Finding[]> {
  const of = async (sessions: number): Promise<number> => {
    const child = fork(new URL('./memoryOf.ts', import.meta.url), [String(sessions)]);
    const [bytes] = (await once(child, 'message')) as [number];
    await once(child, 'exit');
    return bytes / MB;
  };
  return [
    { what: 'memory: process with 8 sessions', value: await of(8), unit: 'MB', budget: 350 },
    { what: 'memory: process with 40 sessions', value: await of(40), unit: 'MB', budget: 900 },
  ];
}

async function benchNative(): Promise<Finding[]> {
  const server = await startNativeServer();
  if (server.kind === 'missing') return [];
  const client = new pg.Client(server.url);
  await client.connect();
  const value = await perCall(CALLS, () => client.query(SELECT));
  await client.end();
  await server.stop();
  return [{ what: 'statement: native PostgreSQL through pg', value, unit: 'ms' }];
}
