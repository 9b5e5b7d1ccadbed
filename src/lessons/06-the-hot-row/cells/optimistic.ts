import { race, sleep, transaction, type Pool } from 'lab';

await race(async ({ pool, retried }) => {
  for (;;) {
    const { stock, version } = await readProduct(pool);
    if (stock <= 0) return 'rejected';

    await sleep(1);

    if (await buy(pool, stock, version)) return 'confirmed';
    retried('version');
  }
});

async function readProduct(pool: Pool) {
  const { rows } = await pool.query<{ stock: number; version: number }>(
    'SELECT stock, version FROM product WHERE id = 0',
  );
  return rows[0] ?? { stock: 0, version: 0 };
}

function buy(pool: Pool, stock: number, version: number) {
  return transaction(pool, async (client) => {
    const { rowCount } = await client.query(
      'UPDATE product SET stock = $1, version = version + 1 WHERE id = 0 AND version = $2',
      [stock - 1, version],
    );
    if (rowCount === 0) return false; // somebody else was faster
    await client.query('INSERT INTO orders (product_id) VALUES (0)');
    return true;
  });
}
