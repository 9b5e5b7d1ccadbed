CREATE TABLE orders (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id   text NOT NULL,
  product_id integer NOT NULL
);
