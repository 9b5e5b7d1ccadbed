import { queue, transaction } from 'lab';

await queue({ messages: 100, workers: 8, redeliver: 25 }).consume((order, { pool }) =>
  transaction(pool, async (client) => {
    const { rowCount } = await client.query(
      'INSERT INTO orders (order_id, product_id) VALUES ($1, 0) ON CONFLICT (order_id) DO NOTHING',
      [order.id],
    );
    if (rowCount === 0) return 'duplicate';
    await client.query('UPDATE product SET stock = stock - 1 WHERE id = 0 AND stock > 0');
    return 'confirmed';
  }),
);
