import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldLedger } from './ledger.ts';
import { LogBuilder, type Actor } from './testing/buildLog.ts';

const T1 = { session: 0, customer: 0 };
const T2 = { session: 1, customer: 1 };

test('a ledger that balances', () => {
  const ledger = foldLedger(LogBuilder.start().buy(T1, 0).buy(T2, 1).tally(2, 0, 2).end());
  assert.deepEqual([ledger.sale?.balanced, ledger.confirmed, ledger.offending], [true, 2, []]);
});

test('the orders beyond the stock are the last ones committed, not the last ones begun or answered', () => {
  const log = LogBuilder.start();
  const begin = (actor: Actor, attempt: number) => log.add({ type: 'attempt', ...actor, attempt });
  const confirm = (actor: Actor, attempt: number) =>
    log.add({ type: 'outcome', ...actor, attempt, outcome: 'confirmed', note: {} });
  begin(T1, 0).wait(10);
  begin(T2, 1).query(T2, 'COMMIT').query(T1, 'COMMIT').wait(10);
  confirm(T1, 0);
  confirm(T2, 1).tally(1, 0, 2);
  assert.deepEqual(foldLedger(log.end()).offending, [
    { reason: 'beyond-stock', attempt: 0, customer: 0, units: 1, place: 2, beganAt: 0, committedAt: 660 },
  ]);
});

test('units count, not orders', () => {
  const log = LogBuilder.start().buy(T1, 0, { units: 3 }).buy(T1, 1, { units: 2 }).buy(T1, 2).tally(5, -1, 6);
  const { confirmedUnits, offending } = foldLedger(log.end());
  assert.equal(confirmedUnits, 6);
  assert.deepEqual(
    offending.map(({ attempt }) => attempt),
    [2],
  );
});

test('a purchase made twice offends although there was stock', () => {
  const log = LogBuilder.start()
    .buy(T1, 0, { key: 'order 1' })
    .buy(T2, 1, { key: 'order 1' })
    .buy(T2, 2)
    .tally(9, 6, 3);
  const { sale, offending } = foldLedger(log.end());
  assert.equal(sale?.balanced, true);
  assert.deepEqual(
    offending.map(({ attempt, reason }) => [attempt, reason]),
    [[1, 'twice']],
  );
});

test('before the final count nothing is known to be beyond the stock', () => {
  const ledger = foldLedger(LogBuilder.start().buy(T1, 0).events);
  assert.deepEqual([ledger.sale, ledger.confirmed, ledger.offending], [null, 1, []]);
});
