import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setHost } from './context.ts';
import { FakeHost } from './fakeHost.ts';
import type { Pool } from './index.ts';
import { race, sleep, transaction, type RaceBody } from './index.ts';

/** Runs the race and returns, per sleep of `ms`, who slept. */
async function sleepers(customers: number, body: RaceBody, answerMs = 100): Promise<Map<number, (number | null)[]>> {
  const host = new FakeHost({ latency: answerMs });
  setHost(host);
  await race({ customers, each: 2 }, body);
  const found = new Map<number, (number | null)[]>();
  for (const { duration, customer } of host.events('sleep')) {
    found.set(duration, [...(found.get(duration) ?? []), customer]);
  }
  return found;
}

/** Each customer sleeps a length of its own, so that the log can be checked against the truth. */
const own = (customer: number, what = 0): number => 1 + customer + what * 100;

function assertExact(found: Map<number, (number | null)[]>, expected: number): void {
  let seen = 0;
  for (const [duration, customers] of found) {
    for (const customer of customers)
      assert.equal(customer, (duration / 1000 - 1) % 100, `${duration} µs: ${customer}`);
    seen += customers.length;
  }
  assert.equal(seen, expected);
}

test('a sleep in the body, before and after the first await, is its customer’s', async () => {
  const found = await sleepers(8, async ({ customer }) => {
    await sleep(own(customer));
    await sleep(own(customer, 1));
  });
  assertExact(found, 32);
});

test('so is one in a helper, after an await of the reader’s own async functions', async () => {
  const read = async (pool: Pool): Promise<number> => {
    const client = await pool.connect();
    try {
      await client.query('SELECT 1');
      return 1;
    } finally {
      client.release();
    }
  };
  const deep = async (pool: Pool): Promise<number> => (await read(pool)) + (await read(pool));
  const found = await sleepers(8, async ({ customer, pool }) => {
    await deep(pool);
    await sleep(own(customer));
    await (async () => {
      await deep(pool);
      await sleep(own(customer, 1));
    })();
    await sleep(own(customer, 2));
  });
  assertExact(found, 48);
});

test('with customers in line for a connection, release() does not pass the name on', async () => {
  const host = new FakeHost();
  setHost(host);
  const use = async (pool: Pool): Promise<void> => {
    const client = await pool.connect();
    await client.query('SELECT 1');
    client.release();
  };
  const nested = async (pool: Pool, depth: number): Promise<void> =>
    void (await (depth > 0 ? nested(pool, depth - 1) : use(pool)));
  await race({ customers: 8, each: 3, pool: { max: 2 } }, async ({ customer, pool }) => {
    await nested(pool, 10);
    await sleep(own(customer));
    await use(pool);
    await sleep(own(customer, 1));
  });
  for (const { customer, duration } of host.events('sleep')) assert.equal(customer, (duration / 1000 - 1) % 100);
  assert.equal(host.events('sleep').length, 48);
});

test('inside and after a transaction', async () => {
  const found = await sleepers(6, async ({ customer, pool }) => {
    await transaction(pool, async (client) => {
      await sleep(own(customer));
      await client.query('SELECT 1');
      await sleep(own(customer, 1));
    });
    await sleep(own(customer, 2));
  });
  assertExact(found, 36);
});

test('inside Promise.all, and after it', async () => {
  const found = await sleepers(5, async ({ customer, pool }) => {
    const branch = async (what: number): Promise<void> => {
      await pool.query('SELECT 1');
      await sleep(own(customer, what));
      await Promise.resolve();
      await sleep(own(customer, what + 1));
    };
    await Promise.all([branch(0), branch(2), sleep(own(customer, 4))]);
    await sleep(own(customer, 5));
  });
  assertExact(found, 60);
});

test('a customer who lets another go on through a promise of its own is not taken for it', async () => {
  const host = new FakeHost();
  setHost(host);
  const barrier = Promise.withResolvers<undefined>();
  await race({ customers: 3, each: 1 }, async ({ customer }) => {
    if (customer === 0) {
      await sleep(5);
      barrier.resolve(undefined);
      await Promise.resolve();
    } else {
      await barrier.promise;
    }
    await sleep(own(customer));
  });
  const late = host.events('sleep').slice(1);
  assert.equal(late.length, 3);
  // Right or nobody; never somebody else.
  for (const { customer, duration } of late) assert.ok(customer === null || customer === duration / 1000 - 1);
  assert.ok(late.some(({ customer }) => customer === null));
});

test('what is bound to a customer is exact even then', async () => {
  const host = new FakeHost();
  setHost(host);
  const barrier = Promise.withResolvers<undefined>();
  await race({ customers: 3, each: 1 }, async (turn) => {
    if (turn.customer === 0) barrier.resolve(undefined);
    else await barrier.promise;
    await turn.sleep(own(turn.customer));
    await turn.pool.query('SELECT $1', [turn.customer]);
  });
  for (const { customer, duration } of host.events('sleep')) assert.equal(customer, duration / 1000 - 1);
  assert.deepEqual(new Set(host.events('query-sent').map(({ customer }) => customer)), new Set([0, 1, 2]));
});

test('the cell itself is nobody, also while a race goes on', async () => {
  const host = new FakeHost();
  setHost(host);
  await sleep(90);
  const going = race({ customers: 2, each: 2 }, async ({ customer }) => {
    await sleep(own(customer));
  });
  await sleep(91);
  await going;
  const cells = host.events('sleep').filter(({ duration }) => duration >= 90_000);
  assert.deepEqual(
    cells.map(({ customer }) => customer),
    [null, null],
  );
});
