CREATE TABLE product (
  id    integer PRIMARY KEY,
  stock integer NOT NULL
);
INSERT INTO product VALUES (0, 200);
