-- topic: innodb large values
CREATE TABLE large_values (id INT PRIMARY KEY, t MEDIUMTEXT, b MEDIUMBLOB, KEY large_t (t(50)), KEY large_b (b(20))) ROW_FORMAT = COMPACT;
INSERT INTO large_values SELECT n, REPEAT(CONCAT(MD5(n), ' '), n * 5), UNHEX(REPEAT(MD5(n + 1), n * 3)) FROM numbers WHERE n < 200 ORDER BY n;
SELECT COUNT(*), SUM(LENGTH(t)), SUM(LENGTH(b)), SUM(CRC32(t)), SUM(CRC32(b)) FROM large_values;
UPDATE large_values SET t = CONCAT(t, 'end'), b = LEFT(b, LENGTH(b) DIV 2) WHERE MOD(id, 3) = 0;
SELECT id, LENGTH(t), LENGTH(b), MD5(t), MD5(b) FROM large_values WHERE id > 180 ORDER BY id;
SELECT id FROM large_values WHERE t LIKE 'c%' ORDER BY t LIMIT 5;
SELECT id FROM large_values WHERE b > UNHEX('F0') ORDER BY b, id LIMIT 5;
DELETE FROM large_values WHERE MOD(id, 2) = 0;
INSERT INTO large_values VALUES (500, REPEAT('a', 500000), REPEAT('b', 700000)), (501, '', ''), (502, NULL, NULL);
SELECT COUNT(*), SUM(LENGTH(t)), SUM(CRC32(t)), SUM(LENGTH(b)), SUM(CRC32(b)) FROM large_values;
ALTER TABLE large_values ROW_FORMAT = REDUNDANT;
SELECT COUNT(*), SUM(CRC32(t)), SUM(CRC32(b)) FROM large_values;

-- topic: innodb changes
CREATE TABLE tally (k INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, label VARCHAR(30), UNIQUE KEY tally_label (label));
INSERT INTO tally (k, n, label) SELECT MOD(n, 100), 1, CONCAT('l', MOD(n, 100)) FROM numbers WHERE n < 1000 ORDER BY n
  ON DUPLICATE KEY UPDATE n = tally.n + 1;
SELECT COUNT(*), SUM(n), MIN(n), MAX(n) FROM tally;
INSERT IGNORE INTO tally VALUES (5, 1, 'new'), (200, 1, 'l6'), (201, 1, 'l201');
REPLACE INTO tally VALUES (5, 50, 'l6'), (300, 3, 'l7');
SELECT * FROM tally WHERE k IN (5, 6, 7, 200, 201, 300) ORDER BY k;
UPDATE tally SET n = n + 1 ORDER BY k DESC LIMIT 10;
SELECT k, n FROM tally WHERE n > 10 ORDER BY k;
DELETE FROM tally ORDER BY k LIMIT 20;
SELECT COUNT(*), SUM(k) FROM tally;
UPDATE tally t JOIN numbers m ON m.n = t.k SET t.n = m.n * 2, t.label = CONCAT('joined ', m.n) WHERE m.n > 50;
SELECT COUNT(*), SUM(n) FROM tally;
DELETE t FROM tally t JOIN digits d ON MOD(t.k, 10) = d.d WHERE d.d < 3;
SELECT COUNT(*), SUM(n), MAX(label) FROM tally;
CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT = 100;
INSERT INTO counted (v) VALUES (1), (2), (3);
INSERT INTO counted (id, v) VALUES (200, 4);
INSERT INTO counted (v) VALUES (5);
SELECT * FROM counted ORDER BY id;
SELECT LAST_INSERT_ID();
SELECT t.label, (SELECT SUM(o.quantity) FROM orders o WHERE o.buyer = t.k) FROM tally t WHERE t.k BETWEEN 60 AND 75 ORDER BY t.k;
-- since: mariadb 10.0.5
DELETE FROM counted WHERE id = 200 RETURNING id, v;

-- topic: innodb alterations
CREATE TABLE altered (id INT PRIMARY KEY, a INT, b VARCHAR(20), c DATE) ROW_FORMAT = DYNAMIC;
INSERT INTO altered SELECT n, MOD(n * 31, 500), CONCAT('b', n), DATE_ADD('2000-01-01', INTERVAL n DAY) FROM numbers WHERE n < 4000 ORDER BY n;
ALTER TABLE altered ADD INDEX altered_a (a), ADD COLUMN d INT NOT NULL DEFAULT 9 AFTER a;
SELECT a, COUNT(*), SUM(d) FROM altered WHERE a BETWEEN 100 AND 110 GROUP BY a ORDER BY a;
ALTER TABLE altered MODIFY a BIGINT, CHANGE b renamed VARCHAR(40), DROP COLUMN c;
SELECT * FROM altered WHERE id BETWEEN 1000 AND 1010 ORDER BY id;
ALTER TABLE altered DROP PRIMARY KEY, ADD PRIMARY KEY (a, id);
SELECT id, a FROM altered WHERE a = 77 ORDER BY a, id;
ALTER TABLE altered MODIFY renamed VARCHAR(2);
ALTER TABLE altered DROP INDEX nowhere;
ALTER TABLE altered ENGINE = InnoDB;
SELECT COUNT(*), SUM(a), SUM(CRC32(renamed)) FROM altered;
CREATE TABLE parted (id INT NOT NULL, k INT NOT NULL, v VARCHAR(20), PRIMARY KEY (id, k), KEY parted_v (v))
  PARTITION BY RANGE (k) (PARTITION p0 VALUES LESS THAN (100), PARTITION p1 VALUES LESS THAN (500), PARTITION p2 VALUES LESS THAN MAXVALUE);
INSERT INTO parted SELECT n, MOD(n * 7, 1000), CONCAT('v', MOD(n, 77)) FROM numbers WHERE n < 3000 ORDER BY n;
SELECT COUNT(*), SUM(id) FROM parted WHERE k < 100;
SELECT COUNT(*), SUM(id) FROM parted WHERE k BETWEEN 90 AND 510 AND v = 'v13';
UPDATE parted SET k = 999 WHERE k = 5;
ALTER TABLE parted TRUNCATE PARTITION p1;
SELECT COUNT(*), SUM(id), SUM(k) FROM parted;
CREATE TABLE squeezed (id INT PRIMARY KEY, t VARCHAR(300), KEY squeezed_t (t(80)));
INSERT INTO squeezed SELECT n, REPEAT(MD5(n), 1 + MOD(n, 8)) FROM numbers WHERE n < 3000 ORDER BY n;
SELECT COUNT(*), SUM(CRC32(t)) FROM squeezed WHERE t LIKE 'a%';
-- since: mysql 5.7, mariadb 10.2.1
CREATE TABLE derived (id INT PRIMARY KEY, a INT, twice INT AS (a * 2) STORED, half INT AS (a DIV 2) VIRTUAL, KEY derived_twice (twice));
-- since: mysql 5.7, mariadb 10.2.1
INSERT INTO derived (id, a) SELECT n, MOD(n * 37, 211) FROM numbers WHERE n < 1000 ORDER BY n;
-- since: mysql 5.7, mariadb 10.2.1
SELECT twice, COUNT(*), SUM(half) FROM derived WHERE twice BETWEEN 100 AND 120 GROUP BY twice ORDER BY twice;
-- since: mysql 5.7, mariadb 10.2.1
INSERT INTO derived (id, a, twice) VALUES (5000, 1, 3);
-- since: mysql 5.6, mariadb 10.0.5
CREATE TABLE texts (id INT PRIMARY KEY, body TEXT, FULLTEXT KEY texts_body (body));
-- since: mysql 5.6, mariadb 10.0.5
INSERT INTO texts VALUES (1, 'quick brown foxes'), (2, 'lazy brown dogs'), (3, 'quick databases'), (4, 'nothing at all');
-- since: mysql 5.6, mariadb 10.0.5
SELECT id FROM texts WHERE MATCH (body) AGAINST ('+brown -lazy' IN BOOLEAN MODE) ORDER BY id;
-- since: mysql 5.6, mariadb 10.0.5
SELECT id FROM texts WHERE MATCH (body) AGAINST ('quick') ORDER BY id;

-- topic: innodb stored code
CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN x * 2;
SELECT twice(21), SUM(twice(d)) FROM digits;
CREATE TABLE audited (id INT PRIMARY KEY, v INT);
CREATE TABLE audit_log (n INT AUTO_INCREMENT PRIMARY KEY, was INT, became INT);
CREATE TRIGGER audited_change BEFORE UPDATE ON audited FOR EACH ROW INSERT INTO audit_log (was, became) VALUES (OLD.v, NEW.v);
CREATE TRIGGER audited_insert BEFORE INSERT ON audited FOR EACH ROW SET NEW.v = COALESCE(NEW.v, NEW.id * 10);
INSERT INTO audited VALUES (1, 5), (2, NULL), (3, NULL);
UPDATE audited SET v = v + 1 WHERE id > 1;
SELECT * FROM audited ORDER BY id;
SELECT * FROM audit_log ORDER BY n;
CREATE PROCEDURE total_of(IN c INT, OUT total DECIMAL(20,4)) SELECT SUM(price) INTO total FROM items WHERE category = c;
CALL total_of(11, @total);
SELECT @total;
PREPARE ranged FROM 'SELECT COUNT(*), SUM(id) FROM items WHERE category = ? AND price > ?';
SET @c = 12, @p = 1000.5;
EXECUTE ranged USING @c, @p;
SET @c = 50, @p = 9000;
EXECUTE ranged USING @c, @p;
EXECUTE ranged USING @c;
DEALLOCATE PREPARE ranged;
EXECUTE ranged USING @c, @p;
PREPARE changing FROM 'UPDATE items SET weight = weight + ? WHERE id = ?';
SET @w = 0.5, @id = 77;
EXECUTE changing USING @w, @id;
SELECT weight FROM items WHERE id = 77;

-- topic: innodb json since: mysql 5.7.9, mariadb 10.2.7
CREATE TABLE documents (id INT PRIMARY KEY, doc JSON);
INSERT INTO documents SELECT n, CONCAT('{"id": ', n, ', "tags": ["t', MOD(n, 7), '", "x"], "at": {"x": ', n * 1.5, ', "y": null}}')
  FROM numbers WHERE n < 500 ORDER BY n;
INSERT INTO documents VALUES (9999, '{"broken": ');
SELECT JSON_EXTRACT(doc, '$.id'), JSON_EXTRACT(doc, '$.tags[0]'), JSON_EXTRACT(doc, '$.at.x') FROM documents WHERE id < 6 ORDER BY id;
SELECT JSON_UNQUOTE(JSON_EXTRACT(doc, '$.tags[0]')), COUNT(*) FROM documents GROUP BY 1 ORDER BY 1;
SELECT COUNT(*) FROM documents WHERE JSON_CONTAINS(doc, '"t3"', '$.tags');
SELECT JSON_SET('{"a": 1}', '$.b', 2), JSON_REMOVE('{"a": 1, "b": 2}', '$.a'), JSON_INSERT('[1, 2]', '$[2]', 3);
SELECT JSON_TYPE('{"a": 1}'), JSON_VALID('{a}'), JSON_LENGTH('[1, 2, 3]'), JSON_KEYS('{"b": 1, "a": 2}'), JSON_DEPTH('[[1]]');
SELECT JSON_OBJECT('k', 1, 'l', 'two'), JSON_ARRAY(1, 'two', NULL), JSON_QUOTE('a"b');
SELECT SUM(JSON_EXTRACT(doc, '$.at.x')), MAX(JSON_LENGTH(doc)) FROM documents;
UPDATE documents SET doc = JSON_SET(doc, '$.at.y', id * 2) WHERE id < 100;
SELECT COUNT(*), SUM(JSON_EXTRACT(doc, '$.at.y')) FROM documents WHERE JSON_TYPE(JSON_EXTRACT(doc, '$.at.y')) = 'INTEGER';
-- since: mysql 8.0.4, mariadb 10.6
SELECT d.id, t.tag FROM documents d, JSON_TABLE(d.doc, '$.tags[*]' COLUMNS (tag VARCHAR(10) PATH '$')) t WHERE d.id < 4 ORDER BY d.id, t.tag;
-- since: mysql 5.7.22, mariadb 10.5
SELECT JSON_ARRAYAGG(d) FROM (SELECT d FROM digits WHERE d = 7) x;

-- topic: innodb isolation
CREATE TABLE shared_rows (id INT PRIMARY KEY, v INT NOT NULL, KEY shared_v (v));
INSERT INTO shared_rows SELECT n, n * 10 FROM numbers WHERE n < 100 ORDER BY n;
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
BEGIN;
SELECT COUNT(*), SUM(v) FROM shared_rows;
-- on: second
UPDATE shared_rows SET v = v + 1;
-- on: second
INSERT INTO shared_rows VALUES (1000, 5);
SELECT COUNT(*), SUM(v) FROM shared_rows;
SELECT COUNT(*), SUM(v) FROM shared_rows FOR UPDATE;
COMMIT;
SELECT COUNT(*), SUM(v) FROM shared_rows;
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
BEGIN;
SELECT SUM(v) FROM shared_rows;
-- on: second
UPDATE shared_rows SET v = v * 2 WHERE id < 10;
SELECT SUM(v) FROM shared_rows;
COMMIT;
SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
-- on: second
BEGIN;
-- on: second
DELETE FROM shared_rows WHERE id < 50;
SELECT COUNT(*) FROM shared_rows;
-- on: second
ROLLBACK;
SELECT COUNT(*) FROM shared_rows;
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SET innodb_lock_wait_timeout = 1;
-- on: second
BEGIN;
-- on: second
UPDATE shared_rows SET v = 0 WHERE id = 5;
UPDATE shared_rows SET v = 1 WHERE id = 5;
UPDATE shared_rows SET v = 1 WHERE id = 6;
-- on: second
COMMIT;
SELECT id, v FROM shared_rows WHERE id IN (5, 6) ORDER BY id;
-- since: mysql 8.0.1, mariadb 10.6
SELECT COUNT(*) FROM shared_rows WHERE id < 10 FOR UPDATE SKIP LOCKED;

-- topic: innodb check
CHECK TABLE items;
CHECK TABLE orders;
CHECK TABLE churn;
CHECK TABLE large_values;
CHECK TABLE altered;
CHECK TABLE parted;
CHECK TABLE collated;
