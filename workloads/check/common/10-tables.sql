-- Tables with some ten thousand rows made from arithmetic alone. Every query names its order down to a unique column.
-- topic: tables
CREATE TABLE digits (d INT PRIMARY KEY);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE numbers (n INT PRIMARY KEY);
INSERT INTO numbers
  SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d
  FROM digits a CROSS JOIN digits b CROSS JOIN digits c CROSS JOIN digits e ORDER BY 1;
SELECT COUNT(*), MIN(n), MAX(n), SUM(n) FROM numbers;
CREATE TABLE items (
  id INT PRIMARY KEY,
  category INT NOT NULL,
  name VARCHAR(40) NOT NULL,
  price DECIMAL(12,4) NOT NULL,
  weight DOUBLE PRECISION NOT NULL,
  made DATE NOT NULL,
  note VARCHAR(200)
);
INSERT INTO items
  SELECT n, MOD(n * 7919, 97), CONCAT('item-', LPAD(CAST(MOD(n * 7919, 10007) AS CHAR(5)), 5, '0')),
    MOD(n * 104729, 1000003) / 100.0, MOD(n * 31, 1024) * 0.25,
    CAST(CONCAT('20', LPAD(CAST(MOD(n, 25) AS CHAR(2)), 2, '0'), '-', 1 + MOD(n, 12), '-', 1 + MOD(n, 28)) AS DATE),
    CASE WHEN MOD(n, 11) = 0 THEN NULL ELSE CONCAT('note ', MD5(CAST(n AS CHAR(5)))) END
  FROM numbers ORDER BY n;
CREATE TABLE buyers (
  id INT PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  city VARCHAR(40) NOT NULL,
  credit DECIMAL(14,2) NOT NULL,
  referrer INT
);
INSERT INTO buyers
  SELECT n, CONCAT('buyer ', n), CONCAT('city-', MOD(n * 37, 29)), MOD(n * 3571, 99991) / 100.0,
    CASE WHEN n < 5 THEN NULL ELSE MOD(n * 7, n) END
  FROM numbers WHERE n BETWEEN 1 AND 503 ORDER BY n;
CREATE TABLE orders (
  id INT PRIMARY KEY,
  item INT NOT NULL,
  buyer INT,
  quantity INT NOT NULL,
  day DATE NOT NULL,
  state CHAR(1) NOT NULL
);
INSERT INTO orders
  SELECT n, MOD(n * 13, 9973), CASE WHEN MOD(n, 41) = 0 THEN NULL ELSE 1 + MOD(n * 17, 509) END, 1 + MOD(n * 19, 23),
    CAST(CONCAT('2020-', 1 + MOD(n * 5, 12), '-', 1 + MOD(n * 3, 28)) AS DATE),
    CASE MOD(n, 5) WHEN 0 THEN 'a' WHEN 1 THEN 'b' WHEN 2 THEN 'c' WHEN 3 THEN 'd' ELSE 'e' END
  FROM numbers ORDER BY n;
CREATE TABLE pairs (a INT NOT NULL, b INT NOT NULL, c VARCHAR(20), PRIMARY KEY (a, b));
INSERT INTO pairs SELECT MOD(n, 50), n, CONCAT('p', MOD(n * 11, 101)) FROM numbers WHERE n < 2000 ORDER BY 1, 2;
SELECT COUNT(*), SUM(category), SUM(price), SUM(weight), MIN(made), MAX(made), COUNT(note) FROM items;
SELECT COUNT(*), COUNT(buyer), SUM(quantity), MIN(day), MAX(day) FROM orders;
SELECT COUNT(*), SUM(credit), SUM(referrer) FROM buyers;

-- topic: indexes
SELECT COUNT(*), SUM(id) FROM items WHERE category = 13 AND price > 5000;
CREATE INDEX items_category ON items (category, price);
SELECT COUNT(*), SUM(id) FROM items WHERE category = 13 AND price > 5000;
CREATE UNIQUE INDEX items_name ON items (name);
CREATE INDEX items_made ON items (made);
CREATE INDEX orders_item ON orders (item);
CREATE INDEX orders_buyer ON orders (buyer, day);
CREATE INDEX orders_state ON orders (state, quantity);
CREATE UNIQUE INDEX items_category_unique ON items (category);
CREATE INDEX items_nowhere ON items (nowhere);

-- topic: table definitions
CREATE TABLE items (id INT PRIMARY KEY);
DROP TABLE nowhere;
DROP TABLE IF EXISTS nowhere;
CREATE TABLE definitions (id INT PRIMARY KEY, a VARCHAR(10) DEFAULT 'none' NOT NULL, b INT);
INSERT INTO definitions (id) VALUES (1);
INSERT INTO definitions (id, a, b) VALUES (2, 'two', 2), (3, DEFAULT, 3);
ALTER TABLE definitions ADD COLUMN c DECIMAL(8,2) DEFAULT 1.50;
SELECT * FROM definitions ORDER BY id;
ALTER TABLE definitions ADD COLUMN b INT;
UPDATE definitions SET c = c * id;
ALTER TABLE definitions DROP COLUMN b;
SELECT * FROM definitions ORDER BY id;
ALTER TABLE definitions RENAME TO renamed_definitions;
SELECT COUNT(*) FROM definitions;
SELECT id, a, c FROM renamed_definitions ORDER BY id DESC;
CREATE VIEW cheap_items AS SELECT id, name, price FROM items WHERE price < 100;
SELECT COUNT(*), SUM(price) FROM cheap_items;
SELECT name, price FROM cheap_items ORDER BY price, id LIMIT 5;
CREATE VIEW buyer_totals AS
  SELECT buyer, COUNT(*) AS orders_made, SUM(quantity) AS pieces FROM orders WHERE buyer IS NOT NULL GROUP BY buyer;
SELECT * FROM buyer_totals WHERE pieces > 265 ORDER BY pieces DESC, buyer;
DROP VIEW cheap_items;
SELECT * FROM cheap_items;
CREATE TABLE copied_items AS SELECT id, category, price FROM items WHERE category < 3;
ALTER TABLE copied_items ADD PRIMARY KEY (id);
SELECT category, COUNT(*), SUM(price) FROM copied_items GROUP BY category ORDER BY category;
TRUNCATE TABLE copied_items;
SELECT COUNT(*) FROM copied_items;
