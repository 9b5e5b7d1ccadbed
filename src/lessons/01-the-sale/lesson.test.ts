import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClients } from '../../lab/fakeClients.ts';
import { race } from '../../lab/index.ts';
import * as naive from './cells/naive.ts';
import { races } from './lesson.ts';

test('with several sessions the naive cell sells more than there is', async () => {
  const outcome = await race(fakeClients(races.naive.sessions).clients, naive, races.naive);
  assert.equal(outcome.attempts, 200);
  assert.equal(outcome.orders, 200);
  assert.equal(outcome.stockBefore, races.naive.stock);
  assert.ok(outcome.stock > 0 && outcome.stock < 100);
});

test('with one session it sells exactly what there is', async () => {
  const outcome = await race(fakeClients(1).clients, naive, races.naive);
  assert.equal(outcome.orders, 100);
  assert.equal(outcome.stock, 0);
  assert.equal(outcome.attempts, 200);
});
