DROP TABLE IF EXISTS orders;
CREATE TABLE orders (
  id SERIAL PRIMARY KEY,
  customer INTEGER NOT NULL,
  total INTEGER NOT NULL
);
CREATE INDEX orders_of_customer ON orders (customer);
