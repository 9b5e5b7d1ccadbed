import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBalance, describeBars, signed } from './describeSale.ts';

test('the ledger tells orders without stock from stock without orders', () => {
  assert.deepEqual(describeBalance({ stockBefore: 100, stock: 0, orders: 100 }), { tone: 'ok', text: '✓ balances' });
  assert.deepEqual(describeBalance({ stockBefore: 100, stock: 94, orders: 200 }), {
    tone: 'bad',
    text: '✕ 194 of the orders left no trace in the stock',
  });
  assert.deepEqual(describeBalance({ stockBefore: 100, stock: 0, orders: 90 }), {
    tone: 'bad',
    text: '✕ the stock fell by 10 more than was ordered',
  });
});

test('the chart in words', () => {
  assert.equal(
    describeBars({ stockBefore: 100, stock: 94, orders: 200 }, 'shirts'),
    'Bar chart: 200 orders, of which 100 oversold; the stock column shows 94; there were 100 shirts.',
  );
});

test('a change has its sign', () => assert.deepEqual([-6, 0, 6].map(signed), ['−6', '0', '+6']));
