CREATE TABLE orders (
  order_id   text PRIMARY KEY,
  product_id integer NOT NULL
);
