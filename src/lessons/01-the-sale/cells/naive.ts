import { race, sleep, transaction, type Client } from 'lab';

await race(({ pool }) => transaction(pool, buy));

async function buy(client: Client) {
  const { rows } = await client.query<{ stock: number }>('SELECT stock FROM product WHERE id = 0');
  const stock = rows[0]?.stock ?? 0;
  if (stock <= 0) return 'rejected';

  await sleep(1); // work out the postage, look up the voucher

  await client.query('UPDATE product SET stock = $1 WHERE id = 0', [stock - 1]);
  await client.query('INSERT INTO orders (product_id) VALUES (0)');
  return 'confirmed';
}
