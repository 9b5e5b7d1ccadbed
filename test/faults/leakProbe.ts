/**
 * Run with `--expose-gc` and `cycles` or `runs` and a count: prints what memory
 * holds after each step, in bytes, as a JSON array.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineCluster } from '../../src/engine/cluster.ts';
import type { Session } from '../../src/engine/types.ts';
import { open, pairOf, untilWaiting } from './support.ts';

export interface Sample {
  /** JavaScript's heap and what it holds outside, without the store's files. */
  readonly memory: number;
  readonly store: number;
  readonly rss: number;
}

const SCHEMA = `
  create table products (id int primary key, stock int check (stock >= 0));
  create table orders (id serial primary key, product int references products, quantity int);
  insert into products values (1, 100)`;

async function sample(cluster?: EngineCluster): Promise<Sample> {
  for (let round = 0; round < 3; round++) {
    await sleep(2);
    globalThis.gc?.();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const store = cluster?.storeBytes ?? 0;
  return { memory: heapUsed + external - store, store, rss };
}

/** A cluster with a session that waits for another's lock, closed like that. */
async function cycle(): Promise<void> {
  const cluster = await open({ sessions: 2 });
  const [a, b] = pairOf(cluster);
  await a.query('select pg_advisory_lock(1)');
  const waits = b.query('select pg_advisory_lock(1)').catch(() => {});
  await untilWaiting(b);
  await cluster.close();
  await waits;
}

async function buy(session: Session): Promise<void> {
  for (let purchase = 0; purchase < 3; purchase++) {
    await session.query('begin');
    await session.query('update products set stock = stock - 1 where id = $1', [1]);
    await session.query('insert into orders (product, quantity) values ($1, 1)', [1]);
    await session.query('commit');
  }
}

async function run(cluster: EngineCluster): Promise<void> {
  await cluster.reset();
  await pairOf(cluster)[0].exec(SCHEMA);
  await Promise.all(cluster.sessions.map(buy));
}

async function repeat(count: number, step: () => Promise<void>, look: () => Promise<Sample>): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let done = 0; done < count; done++) {
    await step();
    samples.push(await look());
  }
  return samples;
}

async function measure(what: string, count: number): Promise<Sample[]> {
  if (what === 'cycles') return repeat(count, cycle, sample);
  const cluster = await open({ sessions: 4 });
  return repeat(
    count,
    () => run(cluster),
    () => sample(cluster),
  );
}

const [what = 'cycles', count = '8'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measure(what, Number(count))), () => process.exit());
