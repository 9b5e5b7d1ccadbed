CREATE TABLE product (
  id    integer PRIMARY KEY,
  stock integer NOT NULL
);
CREATE TABLE orders (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id integer NOT NULL
);
INSERT INTO product SELECT id, 100 FROM generate_series(0, 7) AS id;
