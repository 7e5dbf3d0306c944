/** SQL of a shop with so many orders: keys, indexes, a sequence, a view, a function and a trigger. */
export const shopOf = (orders: number) => `
  CREATE TABLE products (id serial PRIMARY KEY, name text NOT NULL, price numeric(10,2) CHECK (price >= 0));
  CREATE TABLE customers (id serial PRIMARY KEY, email text UNIQUE NOT NULL, made timestamptz DEFAULT now());
  CREATE TABLE orders (id bigserial PRIMARY KEY, customer int REFERENCES customers, product int REFERENCES products,
    count int NOT NULL, note text, made timestamptz DEFAULT now());
  CREATE INDEX ON orders (customer, made);
  CREATE VIEW revenue AS SELECT product, sum(count * price) FROM orders JOIN products p ON p.id = product GROUP BY 1;
  CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.made = now(); RETURN NEW; END $f$;
  CREATE TRIGGER touched BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();
  INSERT INTO products (name, price) SELECT 'product ' || n, n % 90 FROM generate_series(1, 100) n;
  INSERT INTO customers (email) SELECT 'customer' || n || '@example.com' FROM generate_series(1, 500) n;
  INSERT INTO orders (customer, product, count, note)
    SELECT 1 + n % 500, 1 + n % 100, 1 + n % 7, md5(n::text) FROM generate_series(1, ${orders}) n;`
