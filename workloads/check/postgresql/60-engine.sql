-- topic: postgresql large values
CREATE TABLE large_values (id INT PRIMARY KEY, t TEXT, b BYTEA);
INSERT INTO large_values SELECT n, repeat(md5(n::text) || ' ', n * 5), decode(repeat(md5((n + 1)::text), n * 3), 'hex') FROM generate_series(0, 199) n;
SELECT COUNT(*), SUM(length(t)), SUM(length(b)), md5(string_agg(md5(t) || md5(b), '' ORDER BY id)) FROM large_values;
UPDATE large_values SET t = t || 'end', b = substring(b FROM 1 FOR length(b) / 2) WHERE MOD(id, 3) = 0;
SELECT id, length(t), length(b), md5(t), md5(b) FROM large_values WHERE id > 180 ORDER BY id;
DELETE FROM large_values WHERE MOD(id, 2) = 0;
ALTER TABLE large_values ALTER COLUMN b SET STORAGE EXTERNAL;
INSERT INTO large_values VALUES (500, repeat('a', 500000), convert_to(repeat('b', 700000), 'UTF8')), (501, '', ''), (502, NULL, NULL);
SELECT COUNT(*), SUM(length(t)), SUM(length(b)), md5(string_agg(md5(t) || md5(b), '' ORDER BY id)) FROM large_values;
VACUUM large_values;
SELECT COUNT(*), SUM(length(t)) FROM large_values;

-- topic: postgresql changes
CREATE TABLE tally (k INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, label TEXT UNIQUE);
INSERT INTO tally SELECT n, n % 7, 'l' || n FROM generate_series(0, 499) n;
INSERT INTO tally SELECT n, 1, 'm' || n FROM generate_series(400, 599) n ON CONFLICT (k) DO UPDATE SET n = tally.n + excluded.n;
INSERT INTO tally VALUES (1000, 1, 'l5') ON CONFLICT DO NOTHING;
INSERT INTO tally VALUES (1000, 1, 'l5');
SELECT COUNT(*), SUM(n), MAX(label) FROM tally;
UPDATE tally SET n = tally.n + d.d FROM digits d WHERE d.d = tally.k % 10 RETURNING 1;
SELECT COUNT(*), SUM(n) FROM tally;
WITH gone AS (DELETE FROM tally WHERE k % 5 = 0 RETURNING k, n) SELECT COUNT(*), SUM(k), SUM(n) FROM gone;
DELETE FROM tally USING buyers WHERE buyers.id = tally.k AND buyers.city = 'city-7';
SELECT COUNT(*), SUM(n) FROM tally;
-- since: postgresql 15
MERGE INTO tally t USING (SELECT n FROM numbers WHERE n BETWEEN 595 AND 605) s ON s.n = t.k
  WHEN MATCHED THEN UPDATE SET n = 1000 WHEN NOT MATCHED THEN INSERT VALUES (s.n, -1, 'merged ' || s.n);
SELECT k, n, label FROM tally WHERE k > 590 ORDER BY k;
CREATE SEQUENCE steps START 10 INCREMENT 5 MAXVALUE 20;
SELECT nextval('steps'), nextval('steps'), nextval('steps');
SELECT nextval('steps');
CREATE TABLE identified (id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v INT, twice INT GENERATED ALWAYS AS (v * 2) STORED);
INSERT INTO identified (v) VALUES (5), (6) RETURNING id, twice;
INSERT INTO identified (id, v) VALUES (1, 1);
SELECT l.id, x.n FROM buyers l CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM orders o WHERE o.buyer = l.id AND o.quantity > l.id) x
  WHERE l.id < 12 ORDER BY l.id;
SELECT COALESCE(a.n, -1), COALESCE(b.d, -1) FROM (SELECT n FROM numbers WHERE n BETWEEN 7 AND 12) a FULL JOIN digits b ON a.n = b.d ORDER BY 1, 2;
CREATE MATERIALIZED VIEW totals AS SELECT category, SUM(price) AS total FROM items GROUP BY category;
SELECT COUNT(*), SUM(total), MAX(category) FROM totals;
REFRESH MATERIALIZED VIEW totals;
CREATE TABLE excluded_ranges (id INT PRIMARY KEY, during INT4RANGE, EXCLUDE USING gist (during WITH &&));
INSERT INTO excluded_ranges VALUES (1, '[1,10)'), (2, '[10,20)');
INSERT INTO excluded_ranges VALUES (3, '[5,6)');

-- topic: postgresql indexes
CREATE INDEX items_part ON items (price) WHERE category < 10;
SELECT COUNT(*), SUM(id) FROM items WHERE price > 9000 AND category < 10;
CREATE INDEX items_hash ON items USING hash (name);
SELECT id FROM items WHERE name = 'item-07919';
CREATE INDEX items_brin ON items USING brin (id);
SELECT COUNT(*) FROM items WHERE id BETWEEN 5000 AND 5100;
CREATE INDEX items_cover ON items (category) INCLUDE (price);
VACUUM items;
SET enable_seqscan TO off;
SELECT category, COUNT(*), MIN(price), MAX(price) FROM items WHERE category BETWEEN 20 AND 30 GROUP BY category ORDER BY category;
SET enable_indexscan TO off;
SELECT COUNT(*), SUM(id) FROM items WHERE category = 15 OR made = DATE '2003-04-04';
SET enable_bitmapscan TO off;
SELECT COUNT(*), SUM(id) FROM items WHERE category = 15 OR made = DATE '2003-04-04';
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_bitmapscan;
CREATE TABLE points (id INT PRIMARY KEY, p POINT);
INSERT INTO points SELECT n, point(n % 50, n / 50) FROM generate_series(0, 2499) n;
CREATE INDEX points_p ON points USING gist (p);
SELECT COUNT(*), SUM(id) FROM points WHERE p <@ box '((10,10),(20,20))';
SELECT id FROM points ORDER BY p <-> point(25.2, 25.1), id LIMIT 4;

-- topic: postgresql plans
SET enable_hashjoin TO off;
SET enable_nestloop TO off;
SELECT COUNT(*), SUM(o.quantity * i.price) FROM orders o JOIN items i ON i.id = o.item;
SET enable_hashjoin TO on;
SET enable_mergejoin TO off;
SELECT COUNT(*), SUM(o.quantity * i.price) FROM orders o JOIN items i ON i.id = o.item;
SELECT COUNT(*), COUNT(o.id) FROM orders o RIGHT JOIN items i ON i.id = o.item;
RESET enable_mergejoin;
RESET enable_nestloop;
SET work_mem TO '64kB';
SELECT SUM(x.r * x.id) FROM (SELECT id, row_number() OVER (ORDER BY note, name DESC, id) AS r FROM items) x;
SELECT COUNT(*), SUM(c) FROM (SELECT note, name, COUNT(*) AS c FROM items GROUP BY note, name) x;
SELECT COUNT(*), SUM(a.price + b.price) FROM items a JOIN items b ON a.name = b.name AND a.made = b.made;
SELECT COUNT(*) FROM (SELECT n FROM numbers EXCEPT ALL SELECT id FROM items) x;
RESET work_mem;
SET enable_hashagg TO off;
SELECT state, COUNT(*), SUM(quantity) FROM orders GROUP BY state ORDER BY state;
RESET enable_hashagg;

-- Whole numbers and decimals only: the order of adding is not fixed when several processes add.
-- topic: postgresql parallel
SET max_parallel_workers_per_gather TO 2;
SET parallel_setup_cost TO 0;
SET parallel_tuple_cost TO 0;
SET min_parallel_table_scan_size TO 0;
SELECT COUNT(*), SUM(price), MIN(name), MAX(note) FROM items;
SELECT category, COUNT(*), SUM(price) FROM items GROUP BY category ORDER BY category;
SELECT COUNT(*), SUM(o.quantity * i.price) FROM orders o JOIN items i ON i.id = o.item;
SELECT id, price FROM items ORDER BY price DESC, id LIMIT 10;
SET max_parallel_workers_per_gather TO 0;

-- topic: postgresql stored code
CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE sql IMMUTABLE AS $$ SELECT x * 2; $$;
SELECT twice(21), SUM(twice(d)) FROM digits;
CREATE FUNCTION collatz(x INT) RETURNS INT LANGUAGE plpgsql AS $$
DECLARE steps INT := 0;
BEGIN
  WHILE x <> 1 LOOP
    x := CASE WHEN x % 2 = 0 THEN x / 2 ELSE 3 * x + 1 END;
    steps := steps + 1;
  END LOOP;
  RETURN steps;
END $$;
SELECT n, collatz(n) FROM numbers WHERE n BETWEEN 1 AND 30 ORDER BY n;
CREATE FUNCTION guarded(x INT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
  RETURN (100 / x)::text;
EXCEPTION WHEN division_by_zero THEN
  RETURN 'by zero';
END $$;
SELECT guarded(5), guarded(0);
CREATE TABLE audited (id INT PRIMARY KEY, v INT);
CREATE TABLE audit_log (n INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, was INT, became INT);
CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_log (was, became) VALUES (OLD.v, NEW.v);
  RETURN NEW;
END $$;
CREATE TRIGGER audited_change BEFORE UPDATE ON audited FOR EACH ROW EXECUTE FUNCTION note_change();
INSERT INTO audited SELECT d, d * 10 FROM digits;
UPDATE audited SET v = v + 1 WHERE id > 6;
SELECT * FROM audited ORDER BY id;
SELECT * FROM audit_log ORDER BY n;
PREPARE ranged (INT, NUMERIC) AS SELECT COUNT(*), SUM(id) FROM items WHERE category = $1 AND price > $2;
EXECUTE ranged (12, 1000.5);
EXECUTE ranged (50, 9000);
EXECUTE ranged (12);
DEALLOCATE ranged;
EXECUTE ranged (12, 1000.5);
BEGIN;
DECLARE walk SCROLL CURSOR FOR SELECT id, name FROM items ORDER BY id;
FETCH 3 FROM walk;
MOVE FORWARD 1000 IN walk;
FETCH 2 FROM walk;
FETCH BACKWARD 2 FROM walk;
COMMIT;

-- topic: postgresql partitions
CREATE TABLE parted (id INT NOT NULL, k INT NOT NULL, v TEXT, PRIMARY KEY (id, k)) PARTITION BY RANGE (k);
CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (100) TO (1000);
INSERT INTO parted SELECT n, n * 7 % 1000, 'v' || n % 77 FROM generate_series(0, 2999) n;
INSERT INTO parted VALUES (1, 5000, 'x');
SELECT COUNT(*), SUM(id) FROM parted WHERE k < 100;
UPDATE parted SET k = 999 WHERE k = 5;
SELECT COUNT(*), SUM(id), SUM(k) FROM parted_high;
ALTER TABLE parted DETACH PARTITION parted_low;
SELECT COUNT(*), SUM(id) FROM parted;

-- topic: postgresql isolation
CREATE TABLE shared_rows (id INT PRIMARY KEY, v INT NOT NULL);
INSERT INTO shared_rows SELECT n, n * 10 FROM generate_series(0, 99) n;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT COUNT(*), SUM(v) FROM shared_rows;
-- on: second
UPDATE shared_rows SET v = v + 1;
-- on: second
INSERT INTO shared_rows VALUES (1000, 5);
SELECT COUNT(*), SUM(v) FROM shared_rows;
UPDATE shared_rows SET v = 0 WHERE id = 1;
ROLLBACK;
SELECT COUNT(*), SUM(v) FROM shared_rows;
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT SUM(v) FROM shared_rows;
-- on: second
UPDATE shared_rows SET v = v * 2 WHERE id < 10;
SELECT SUM(v) FROM shared_rows;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT SUM(v) FROM shared_rows WHERE id < 50;
-- on: second
BEGIN ISOLATION LEVEL SERIALIZABLE;
-- on: second
SELECT SUM(v) FROM shared_rows WHERE id >= 50;
UPDATE shared_rows SET v = 1 WHERE id = 60;
-- on: second
UPDATE shared_rows SET v = 1 WHERE id = 6;
COMMIT;
-- on: second
COMMIT;
SELECT id, v FROM shared_rows WHERE id IN (6, 60) ORDER BY id;
-- on: second
BEGIN;
-- on: second
UPDATE shared_rows SET v = 0 WHERE id = 5;
SELECT v FROM shared_rows WHERE id = 5 FOR UPDATE NOWAIT;
SELECT id FROM shared_rows WHERE id BETWEEN 4 AND 6 ORDER BY id FOR UPDATE SKIP LOCKED;
-- on: second
ROLLBACK;
SELECT v FROM shared_rows WHERE id = 5 FOR UPDATE NOWAIT;
