import type { Client, Sleep } from 'lab';

const SHIRT = 1;

export async function setup(db: Client) {
  await db.query('CREATE TABLE product (id int PRIMARY KEY, stock int NOT NULL)');
  await db.query('CREATE TABLE orders (id serial PRIMARY KEY, product_id int NOT NULL)');
  await db.query('INSERT INTO product (id, stock) VALUES ($1, 100)', [SHIRT]);
}

/** One click on Buy: true if the customer got an order. */
export async function buy(db: Client, sleep: Sleep) {
  await db.query('BEGIN');
  const { rows } = await db.query<{ stock: number }>('SELECT stock FROM product WHERE id = $1', [SHIRT]);
  const stock = rows[0]?.stock ?? 0;
  if (stock <= 0) {
    await db.query('ROLLBACK');
    return false;
  }

  await sleep(1); // work out the postage, look up the voucher

  await db.query('UPDATE product SET stock = $1 WHERE id = $2', [stock - 1, SHIRT]);
  await db.query('INSERT INTO orders (product_id) VALUES ($1)', [SHIRT]);
  await db.query('COMMIT');
  return true;
}
