import { race, sleep, transaction, type Client } from 'lab';

const products = [0, 1, 2, 3, 4, 5, 6, 7];

await race({ customers: 8, each: 15 }, ({ pool, random }) => {
  const cart = random.sample(products, 3).toSorted((a, b) => a - b);
  return transaction(pool, (client) => checkout(client, cart), { retryOn: ['40P01'] });
});

async function checkout(client: Client, cart: number[]) {
  for (const id of cart) {
    const { rows } = await client.query<{ stock: number }>('SELECT stock FROM product WHERE id = $1 FOR UPDATE', [id]);
    if ((rows[0]?.stock ?? 0) <= 0) throw new Error(`product ${id} is sold out`);
    await sleep(2);
  }
  for (const id of cart) {
    await client.query('UPDATE product SET stock = stock - 1 WHERE id = $1', [id]);
    await client.query('INSERT INTO orders (product_id) VALUES ($1)', [id]);
  }
}
