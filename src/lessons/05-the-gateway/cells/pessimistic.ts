import { parameter, race, sleep, transaction } from 'lab';

const gatewayMs = parameter('gatewayMs', 100);

await race({ customers: 8, each: 5, pool: { max: 4, connectionTimeoutMillis: 30_000 } }, ({ pool, attempt }) => {
  const id = attempt; // every checkout buys another of the 200 products
  return transaction(pool, async (client) => {
    const { rows } = await client.query<{ stock: number }>('SELECT stock FROM product WHERE id = $1 FOR UPDATE', [id]);
    if ((rows[0]?.stock ?? 0) <= 0) return 'rejected';

    await sleep(gatewayMs); // the payment, while we hold a row lock and a connection

    await client.query('UPDATE product SET stock = stock - 1 WHERE id = $1', [id]);
    await client.query('INSERT INTO orders (product_id) VALUES ($1)', [id]);
    return 'confirmed';
  });
});
