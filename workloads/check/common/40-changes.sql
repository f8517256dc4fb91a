-- topic: updates
UPDATE orders SET quantity = quantity + 1 WHERE state = 'c';
SELECT state, SUM(quantity) FROM orders GROUP BY state ORDER BY state;
UPDATE items SET price = price * 1.1 WHERE category = 7;
SELECT COUNT(*), SUM(price) FROM items WHERE category = 7;
UPDATE items SET category = category + 100 WHERE MOD(id, 10) = 3;
SELECT COUNT(*), SUM(category), MIN(id) FROM items WHERE category >= 100;
SELECT category, COUNT(*) FROM items WHERE category BETWEEN 95 AND 105 GROUP BY category ORDER BY category;
UPDATE items SET name = CONCAT('renamed-', id) WHERE id BETWEEN 3000 AND 3999;
SELECT COUNT(*), MIN(name), MAX(name) FROM items WHERE name LIKE 'renamed-%';
UPDATE items SET note = NULL, made = DATE '2030-01-01' WHERE category = 3 AND price > 8000;
SELECT COUNT(*) FROM items WHERE made = DATE '2030-01-01';
UPDATE items SET name = 'item-00000' WHERE id = 1;
UPDATE items SET category = NULL WHERE id = 1;
UPDATE items SET id = id + 1 WHERE id = 5;
UPDATE items SET id = -id WHERE id BETWEEN 1 AND 100;
SELECT COUNT(*), SUM(id) FROM items WHERE id < 0;
UPDATE items SET id = -id WHERE id < 0;
UPDATE orders SET buyer = (SELECT MIN(id) FROM buyers WHERE city = 'city-3') WHERE buyer > 503;
SELECT buyer, COUNT(*) FROM orders GROUP BY buyer HAVING COUNT(*) > 25 ORDER BY buyer;
UPDATE buyers SET credit = credit + 10, name = UPPER(name) WHERE id IN (SELECT buyer FROM orders WHERE quantity > 22);
SELECT COUNT(*), SUM(credit), COUNT(DISTINCT name) FROM buyers WHERE name LIKE 'BUYER%';
UPDATE items SET price = 1 WHERE id = -5;

-- topic: deletes
DELETE FROM orders WHERE id BETWEEN 2000 AND 2999;
SELECT COUNT(*), SUM(id) FROM orders;
DELETE FROM orders WHERE state = 'e' AND quantity < 10;
SELECT COUNT(*), SUM(id) FROM orders WHERE state = 'e';
DELETE FROM items WHERE id NOT IN (SELECT item FROM orders) AND MOD(id, 4) = 0;
SELECT COUNT(*), SUM(price), MIN(id), MAX(id) FROM items;
INSERT INTO orders SELECT n, MOD(n, 100), 1 + MOD(n, 300), 5, DATE '2021-06-15', 'f' FROM numbers WHERE n BETWEEN 2200 AND 2699 ORDER BY n;
SELECT state, COUNT(*), SUM(quantity) FROM orders GROUP BY state ORDER BY state;
SELECT COUNT(*) FROM orders WHERE item < 50 AND buyer = 150;
DELETE FROM orders WHERE id = 2200;
DELETE FROM orders WHERE id = 2200;
CREATE TABLE churn (id INT PRIMARY KEY, k INT NOT NULL, t VARCHAR(100) NOT NULL);
CREATE INDEX churn_k ON churn (k);
INSERT INTO churn SELECT n, MOD(n * 7, 1000), CONCAT('text ', n) FROM numbers WHERE n < 5000 ORDER BY n;
DELETE FROM churn WHERE k BETWEEN 100 AND 800;
INSERT INTO churn SELECT n, MOD(n * 3, 1000), CONCAT('again ', n) FROM numbers
  WHERE n < 5000 AND MOD(n * 7, 1000) BETWEEN 100 AND 800 ORDER BY n;
UPDATE churn SET k = 999 - k WHERE MOD(id, 3) = 0;
UPDATE churn SET t = CONCAT(t, REPEAT('.', MOD(id, 50))) WHERE MOD(id, 2) = 0;
SELECT COUNT(*), SUM(k), SUM(LENGTH(t)) FROM churn;
SELECT id, k, t FROM churn WHERE k IN (5, 500, 995) ORDER BY k, id;
DELETE FROM churn WHERE MOD(id, 5) <> 0;
SELECT COUNT(*), SUM(k), MIN(t), MAX(t) FROM churn;

-- topic: constraints
INSERT INTO items SELECT * FROM items WHERE id = 7;
INSERT INTO items (id, category, name, price, weight, made) VALUES (20000, 1, 'renamed-3001', 1, 1, '2020-01-01');
INSERT INTO items (id, category, name, price, weight, made) VALUES (20000, 1, NULL, 1, 1, '2020-01-01');
INSERT INTO items (id, category, name, price, weight) VALUES (20000, 1, 'x', 1, 1);
INSERT INTO items VALUES (1, 2);
INSERT INTO digits VALUES ('seven');
INSERT INTO digits VALUES (NULL);
SELECT COUNT(*) FROM items WHERE id >= 20000;
-- since: mysql 8.0.16, mariadb 10.2.1, postgresql 9
CREATE TABLE checked (id INT PRIMARY KEY, n INT, CHECK (n > 0 AND n < 10));
-- since: mysql 8.0.16, mariadb 10.2.1, postgresql 9
INSERT INTO checked VALUES (1, 5), (2, NULL);
-- since: mysql 8.0.16, mariadb 10.2.1, postgresql 9
INSERT INTO checked VALUES (3, 10);
-- since: mysql 8.0.16, mariadb 10.2.1, postgresql 9
UPDATE checked SET n = n + 5;
CREATE TABLE several (id INT PRIMARY KEY, a INT, b INT, UNIQUE (a, b));
INSERT INTO several VALUES (1, 1, 1), (2, 1, 2), (3, NULL, 1), (4, NULL, 1);
INSERT INTO several VALUES (5, 2, 1), (6, 1, 2);
SELECT * FROM several ORDER BY id;

-- topic: foreign keys
CREATE TABLE parents (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL);
CREATE TABLE owned (id INT PRIMARY KEY, parent INT NOT NULL,
  CONSTRAINT owned_parent FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE loose (id INT PRIMARY KEY, parent INT,
  CONSTRAINT loose_parent FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE SET NULL);
CREATE TABLE strict_children (id INT PRIMARY KEY, owner INT NOT NULL,
  CONSTRAINT strict_owner FOREIGN KEY (owner) REFERENCES owned (id));
INSERT INTO parents SELECT n, CONCAT('parent ', n) FROM numbers WHERE n < 200 ORDER BY n;
INSERT INTO owned SELECT n, MOD(n, 200) FROM numbers WHERE n < 2000 ORDER BY n;
INSERT INTO loose SELECT n, MOD(n * 3, 200) FROM numbers WHERE n < 1000 ORDER BY n;
INSERT INTO strict_children VALUES (1, 5), (2, 205), (3, 406);
INSERT INTO owned VALUES (5000, 777);
UPDATE loose SET parent = 999 WHERE id = 1;
DELETE FROM parents WHERE id BETWEEN 10 AND 49;
SELECT COUNT(*), SUM(id) FROM owned;
SELECT COUNT(*), COUNT(parent) FROM loose;
DELETE FROM parents WHERE id = 5;
DELETE FROM owned WHERE id = 406;
UPDATE parents SET id = 1007 WHERE id = 7;
SELECT id FROM owned WHERE parent = 1007 ORDER BY id;
UPDATE parents SET id = 1009 WHERE id = 9;
DELETE FROM strict_children;
DELETE FROM parents WHERE id = 5;
SELECT COUNT(*) FROM owned WHERE parent = 5;
DROP TABLE parents;
ALTER TABLE loose DROP CONSTRAINT nowhere;
INSERT INTO loose VALUES (3000, NULL);
SELECT COUNT(*) FROM owned o LEFT JOIN parents p ON p.id = o.parent WHERE p.id IS NULL;

-- topic: transactions
CREATE TABLE ledger (id INT PRIMARY KEY, amount DECIMAL(10,2) NOT NULL);
INSERT INTO ledger SELECT n, n * 1.5 FROM numbers WHERE n < 1000 ORDER BY n;
BEGIN;
UPDATE ledger SET amount = 0 WHERE id < 500;
DELETE FROM ledger WHERE id >= 900;
SELECT COUNT(*), SUM(amount) FROM ledger;
-- on: second
SELECT COUNT(*), SUM(amount) FROM ledger;
ROLLBACK;
SELECT COUNT(*), SUM(amount) FROM ledger;
BEGIN;
INSERT INTO ledger VALUES (2000, 1);
SAVEPOINT one;
UPDATE ledger SET amount = amount + 1 WHERE id BETWEEN 10 AND 19;
SAVEPOINT two;
DELETE FROM ledger WHERE id < 100;
SELECT COUNT(*), SUM(amount) FROM ledger;
ROLLBACK TO SAVEPOINT two;
SELECT COUNT(*), SUM(amount) FROM ledger;
RELEASE SAVEPOINT one;
COMMIT;
SELECT COUNT(*), SUM(amount) FROM ledger;
-- on: second
SELECT COUNT(*), SUM(amount) FROM ledger;
BEGIN;
INSERT INTO ledger VALUES (3000, 1);
INSERT INTO ledger VALUES (3000, 2);
INSERT INTO ledger VALUES (3001, 3);
COMMIT;
SELECT id, amount FROM ledger WHERE id >= 3000 ORDER BY id;
ROLLBACK TO SAVEPOINT two;
BEGIN;
SAVEPOINT one;
INSERT INTO ledger VALUES (4000, 4);
INSERT INTO ledger VALUES (4000, 5);
ROLLBACK TO SAVEPOINT one;
INSERT INTO ledger VALUES (4001, 6);
COMMIT;
SELECT id, amount FROM ledger WHERE id >= 4000 ORDER BY id;
