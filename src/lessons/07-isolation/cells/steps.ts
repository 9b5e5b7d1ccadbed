import { script } from 'lab';

const read = 'SELECT stock FROM product WHERE id = 0';
const write = 'UPDATE product SET stock = $1 WHERE id = 0';

await script([
  ['T1', 'BEGIN ISOLATION LEVEL REPEATABLE READ'],
  ['T2', 'BEGIN ISOLATION LEVEL REPEATABLE READ'],
  ['T1', read, { rows: [{ stock: 100 }] }],
  ['T2', read, { rows: [{ stock: 100 }] }],
  ['T1', write, [99]],
  ['T2', write, [99], { waits: true, code: '40001' }],
  ['T1', 'COMMIT'],
  ['T2', 'ROLLBACK'],

  ['T2', 'BEGIN ISOLATION LEVEL REPEATABLE READ'],
  ['T2', read, { rows: [{ stock: 99 }] }],
  ['T2', write, [98], { waits: false, rowCount: 1 }],
  ['T2', 'COMMIT'],
]);
