import { race, transaction } from 'lab';

await race(({ pool }) =>
  transaction(pool, async (client) => {
    const { rowCount } = await client.query('UPDATE product SET stock = stock - 1 WHERE id = 0 AND stock > 0');
    if (rowCount === 0) return 'rejected';
    await client.query('INSERT INTO orders (product_id) VALUES (0)');
    return 'confirmed';
  }),
);
