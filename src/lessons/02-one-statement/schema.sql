CREATE TABLE product (
  id    integer PRIMARY KEY,
  stock integer NOT NULL
);
CREATE TABLE orders (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id integer NOT NULL REFERENCES product
);
INSERT INTO product VALUES (0, 100);
