import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from './client.ts';
import { fakeClients } from './fakeClients.ts';
import { race, type RaceCell } from './race.ts';

const tally = 'SELECT stock, orders';
const plan = { attempts: 200, buyers: 40, tally };

async function setup(db: Client): Promise<void> {
  await db.query('INSERT INTO product VALUES (100)');
}

class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

test('an error of the database counts, is rolled back, and the race goes on', async () => {
  const { clients, statements } = fakeClients(2);
  let clicks = 0;
  const cell: RaceCell = {
    setup,
    async buy(db) {
      await db.query('BEGIN');
      clicks += 1;
      if (clicks <= 3) throw new DatabaseError(`refused ${clicks}`);
      await db.query('COMMIT');
      return true;
    },
  };
  const outcome = await race(clients, cell, { attempts: 10, buyers: 4, tally });
  assert.equal(outcome.attempts, 10);
  assert.equal(outcome.errors, 3);
  assert.equal(outcome.firstError, 'refused 1');
  assert.equal(statements.filter(({ text }) => text === 'ROLLBACK').length, 3);
});

test('an error of the cell itself ends the race', async () => {
  const cell: RaceCell = { setup, buy: () => Promise.reject(new TypeError('no such thing')) };
  await assert.rejects(race(fakeClients(2).clients, cell, plan), { name: 'TypeError', message: 'no such thing' });
});

test('no client serves two customers at once', async () => {
  const busy = new Set<Client>();
  const cell: RaceCell = {
    setup,
    async buy(db, sleep) {
      assert.ok(!busy.has(db));
      busy.add(db);
      await sleep(1);
      return busy.delete(db);
    },
  };
  const outcome = await race(fakeClients(3).clients, cell, { attempts: 30, buyers: 10, tally });
  assert.equal(outcome.attempts, 30);
});

test('samples come at most twenty a second, and none after the end', async () => {
  const cell: RaceCell = {
    setup,
    async buy(_db, sleep) {
      await sleep(10);
      return true;
    },
  };
  const samples: number[] = [];
  const options = { attempts: 40, buyers: 2, tally };
  const { milliseconds } = await race(fakeClients(2).clients, cell, options, (sample) => samples.push(sample.attempts));
  assert.ok(samples.length >= 2, `${samples.length} samples in ${milliseconds} ms`);
  assert.ok(samples.length <= milliseconds / 50 + 1, `${samples.length} samples in ${milliseconds} ms`);
  assert.deepEqual(
    samples,
    samples.toSorted((a, b) => a - b),
  );
});
