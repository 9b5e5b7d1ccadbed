import { parameter, race, sleep, transaction } from 'lab';

const gatewayMs = parameter('gatewayMs', 100);

await race({ customers: 8, each: 5, pool: { max: 4, connectionTimeoutMillis: 30_000 } }, async (turn) => {
  const { pool } = turn;
  const id = turn.attempt; // every checkout buys another of the 200 products
  for (;;) {
    const { rows } = await pool.query<{ stock: number; version: number }>(
      'SELECT stock, version FROM product WHERE id = $1',
      [id],
    );
    const { stock, version } = rows[0] ?? { stock: 0, version: 0 };
    if (stock <= 0) return 'rejected';

    await sleep(gatewayMs); // the payment, while we hold nothing

    const bought = await transaction(pool, async (client) => {
      const { rowCount } = await client.query(
        'UPDATE product SET stock = $2, version = version + 1 WHERE id = $1 AND version = $3',
        [id, stock - 1, version],
      );
      if (rowCount === 1) await client.query('INSERT INTO orders (product_id) VALUES ($1)', [id]);
      return rowCount === 1;
    });
    if (bought) return 'confirmed';
    turn.retried('version');
  }
});
