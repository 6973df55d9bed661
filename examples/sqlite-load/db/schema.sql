CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer INTEGER NOT NULL,
  total INTEGER NOT NULL
);
CREATE INDEX orders_of_customer ON orders (customer);
