import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBalance, judgeSale, type Sale } from './judgeSale.ts';

const sale = (changes: Partial<Sale>): Sale => ({
  stockBefore: 100,
  stock: 0,
  orders: 100,
  errors: 0,
  firstError: null,
  ...changes,
});

const sentence = (changes: Partial<Sale>): string => {
  const { tone, figure, rest } = judgeSale(sale(changes), 'shirts');
  return `${tone}: ${figure}${rest}`;
};

test('an oversold race says by how much, number first', () => {
  assert.equal(
    sentence({ stock: 94, orders: 200 }),
    'bad: 200 orders for 100 shirts, stock shows 94: oversold by 100, and not one error.',
  );
});

test('an exact sale is called exact', () => {
  assert.equal(sentence({}), 'ok: 100 orders for 100 shirts, stock shows 0: nothing oversold, and not one error.');
});

test('a ledger that does not balance is bad even if nothing is oversold', () => {
  assert.equal(
    sentence({ stock: 60, orders: 90 }),
    'bad: 90 orders for 100 shirts, stock shows 60: not oversold, but the stock does not account for the orders, and not one error.',
  );
});

test('failed attempts are counted, with the first message', () => {
  assert.equal(
    sentence({ stock: 50, orders: 50, errors: 1, firstError: 'deadlock detected' }),
    'ok: 50 orders for 100 shirts, stock shows 50: nothing oversold; 1 attempt failed, the first with “deadlock detected”.',
  );
});

test('the ledger tells orders without stock from stock without orders', () => {
  assert.deepEqual(describeBalance(sale({})), { tone: 'ok', text: '✓ balances' });
  assert.deepEqual(describeBalance(sale({ stock: 94, orders: 200 })), {
    tone: 'bad',
    text: '✕ 194 of the orders left no trace in the stock',
  });
  assert.deepEqual(describeBalance(sale({ stock: 0, orders: 90 })), {
    tone: 'bad',
    text: '✕ the stock fell by 10 more than was ordered',
  });
});
