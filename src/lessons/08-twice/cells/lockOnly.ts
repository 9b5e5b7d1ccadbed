import { queue, transaction } from 'lab';

await queue({ messages: 100, workers: 8, redeliver: 25 }).consume((order, { pool }) =>
  transaction(pool, async (client) => {
    const { rows } = await client.query<{ stock: number }>('SELECT stock FROM product WHERE id = 0 FOR UPDATE');
    if ((rows[0]?.stock ?? 0) <= 0) return 'rejected';
    await client.query('UPDATE product SET stock = stock - 1 WHERE id = 0');
    await client.query('INSERT INTO orders (order_id, product_id) VALUES ($1, 0)', [order.id]);
    return 'confirmed';
  }),
);
