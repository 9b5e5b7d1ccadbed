CREATE TABLE product (
  id      integer PRIMARY KEY,
  stock   integer NOT NULL,
  version integer NOT NULL DEFAULT 0
);
CREATE TABLE orders (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id integer NOT NULL
);
INSERT INTO product VALUES (0, 100);
