-- topic: innodb collations
CREATE TABLE collated (
  id INT PRIMARY KEY,
  ci VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL,
  uni VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL,
  bin VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  west VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci,
  KEY collated_ci (ci), KEY collated_uni (uni), KEY collated_bin (bin), KEY collated_west (west)
);
INSERT INTO collated VALUES (1, 'abc', 'abc', 'abc', 'abc'), (2, 'ABC', 'ABC', 'ABC', 'ABC'), (3, 'äbc', 'äbc', 'äbc', 'äbc'),
  (4, 'Ärger', 'Ärger', 'Ärger', 'Ärger'), (5, 'straße', 'straße', 'straße', 'straße'), (6, 'strasse', 'strasse', 'strasse', 'strasse'),
  (7, 'zoo', 'zoo', 'zoo', 'zoo'), (8, 'éa', 'éa', 'éa', 'éa'), (9, 'eb', 'eb', 'eb', 'eb'), (10, 'Ea', 'Ea', 'Ea', 'Ea'),
  (11, '日本', '日本', '日本', NULL), (12, 'ñu', 'ñu', 'ñu', 'ñu'), (13, 'nu', 'nu', 'nu', 'nu'), (14, 'œuvre', 'œuvre', 'œuvre', NULL),
  (15, 'trail ', 'trail ', 'trail ', 'trail '), (16, 'trail', 'trail', 'trail', 'trail'), (17, '', '', '', '');
INSERT INTO collated VALUES (18, 'x', 'x', 'x', '日本');
SELECT id, ci FROM collated ORDER BY ci, id;
SELECT id, uni FROM collated ORDER BY uni, id;
SELECT id, bin FROM collated ORDER BY bin, id;
SELECT id, west FROM collated ORDER BY west DESC, id;
SELECT id FROM collated WHERE ci = 'abc' ORDER BY id;
SELECT id FROM collated WHERE uni = 'strasse' ORDER BY id;
SELECT id FROM collated WHERE bin = 'abc' ORDER BY id;
SELECT id FROM collated WHERE west = 'ABC' ORDER BY id;
SELECT id FROM collated WHERE bin = 'trail' ORDER BY id;
SELECT id FROM collated WHERE ci LIKE 'A%' ORDER BY id;
SELECT id FROM collated WHERE uni LIKE '%SS%' ORDER BY id;
SELECT id FROM collated WHERE ci BETWEEN 'e' AND 'f' ORDER BY id;
SELECT id FROM collated WHERE uni > 'n' AND uni < 'p' ORDER BY uni, id;
SELECT COUNT(DISTINCT ci), COUNT(DISTINCT uni), COUNT(DISTINCT bin), COUNT(DISTINCT west) FROM collated;
SELECT MIN(id), COUNT(*), SUM(id) FROM collated GROUP BY ci ORDER BY MIN(id);
SELECT MIN(id), COUNT(*), SUM(id) FROM collated GROUP BY uni ORDER BY MIN(id);
SELECT COUNT(*) FROM collated a JOIN collated b ON a.uni = b.uni;
SELECT COUNT(*) FROM collated a JOIN collated b ON a.ci = b.ci AND a.bin <> b.bin;
SELECT 'a' = 'A' COLLATE utf8mb4_unicode_ci, 'a' = 'A' COLLATE utf8mb4_bin, 'ä' = 'a' COLLATE utf8mb4_unicode_ci;
SELECT STRCMP('abc', 'abd'), STRCMP('b' COLLATE utf8mb4_general_ci, 'B'), STRCMP('b' COLLATE utf8mb4_bin, 'B');
-- since: mysql 5.6, mariadb 10.1
SELECT HEX(WEIGHT_STRING('ä' COLLATE utf8mb4_unicode_ci)), HEX(WEIGHT_STRING('Ab' COLLATE utf8mb4_general_ci));
SELECT id, HEX(CONVERT(bin USING utf8mb4)), HEX(west), CHAR_LENGTH(bin), LENGTH(bin) FROM collated ORDER BY id;
SELECT ci = bin FROM collated WHERE id = 1;
SELECT ci = uni FROM collated WHERE id = 1;
CREATE UNIQUE INDEX collated_unique ON collated (uni);
-- since: mysql 8.0
SELECT id FROM collated ORDER BY bin COLLATE utf8mb4_0900_ai_ci, id;
-- since: mysql 8.0
SELECT id FROM collated WHERE bin COLLATE utf8mb4_0900_ai_ci = 'STRASSE' ORDER BY id;
-- since: mysql 8.0
SELECT id FROM collated ORDER BY bin COLLATE utf8mb4_0900_as_cs, id;

-- topic: innodb regular expressions
SELECT COUNT(*), SUM(id) FROM items WHERE name REGEXP '^item-0+[1-5]{2}';
SELECT COUNT(*), SUM(id) FROM items WHERE note REGEXP 'aa.*(b|c)$';
SELECT 'abc' REGEXP '^a.c$', 'abc' REGEXP 'B', 'a1b22' REGEXP '[0-9]{2}$', '' REGEXP 'x*';
SELECT 'x' REGEXP '(';
-- since: mysql 8.0.4, mariadb 10.0.5
SELECT REGEXP_REPLACE('one 22 three 4', '[0-9]+', '#'), REGEXP_SUBSTR('one 22 three', '[a-z]{4,}'), REGEXP_INSTR('one 22', '[0-9]');
-- since: mysql 8.0.4, mariadb 10.0.5
SELECT SUM(LENGTH(REGEXP_REPLACE(note, '[a-f]+', '-'))) FROM items;

-- topic: innodb numbers
SELECT 7 DIV 2, -7 DIV 2, 7 % 3, 7 / 2, 1 / 3, 0x1F + 1, b'101' + 0;
SELECT TRUNCATE(2.789, 2), TRUNCATE(-2.789, 1), TRUNCATE(12345, -2), FORMAT(1234567.891, 2), CONV('ff', 16, 10), CONV(255, 10, 2);
SELECT CAST('12abc' AS SIGNED), CAST(-1 AS UNSIGNED), CAST('3.7' AS DECIMAL(5,1)), CAST(2.5 AS SIGNED), CAST(1e10 AS CHAR);
SELECT 1 XOR 1, ~0, 5 ^ 3, BIT_COUNT(255), 1 <=> NULL, NULL <=> NULL;
SELECT BIT_AND(id), BIT_OR(id), BIT_XOR(id), BIT_XOR(CRC32(note)) FROM items;
SELECT ROUND(STDDEV_POP(price), 6), ROUND(VAR_SAMP(price), 4), ROUND(STDDEV_SAMP(weight), 6) FROM items;
SELECT CONCAT(0.1 + 0e0), CONCAT(1e20), CONCAT(1e-7), CONCAT(123456789012345678e0), CONCAT(1/3e0), CONCAT(-0e0), CONCAT(1e15), CONCAT(1e14);
SELECT ROUND(SIN(1), 9), ROUND(COS(1), 9), ROUND(ATAN2(1, 2), 9), ROUND(LOG(2, 10), 9), ROUND(PI(), 6), ROUND(DEGREES(1), 8);
SELECT 18446744073709551615 + 0, 9223372036854775807 + 1;
SELECT CAST(0 AS UNSIGNED) - 1;
SELECT 9999999999999999999999999999999999999999999999999999999999999999 * 10.5;
SELECT EXP(1000);
SELECT SUM(id), AVG(id), MIN(price / 3), MAX(price * weight) FROM items WHERE category < 10;
CREATE TABLE numeric_kinds (
  id INT PRIMARY KEY AUTO_INCREMENT, t TINYINT UNSIGNED, m MEDIUMINT, u BIGINT UNSIGNED, d DECIMAL(65,30), b BIT(10), y YEAR,
  f FLOAT, g DOUBLE, e ENUM('small', 'medium', 'large'), s SET('red', 'green', 'blue'), bo BOOLEAN
);
INSERT INTO numeric_kinds (t, m, u, d, b, y, f, g, e, s, bo) VALUES
  (255, -8388608, 18446744073709551615, 0.000000000000000000000000000001, b'1010101010', 1999, 1.5, 2.25, 'medium', 'red,blue', TRUE),
  (0, 8388607, 0, -12345678901234567890123456789012345.5, b'0', 2155, -0.1, 1e100, 'large', '', FALSE),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO numeric_kinds (t) VALUES (256);
INSERT INTO numeric_kinds (u) VALUES (-1);
INSERT INTO numeric_kinds (e) VALUES ('huge');
INSERT INTO numeric_kinds (m) VALUES (8388608);
SELECT * FROM numeric_kinds ORDER BY id;
SELECT id, e + 0, s + 0, b + 0, HEX(b), y + 1 FROM numeric_kinds ORDER BY id;
SELECT id, f, g, f * 2, CONCAT(f), CONCAT(g) FROM numeric_kinds ORDER BY e, id;
SELECT LAST_INSERT_ID(), COUNT(*), MAX(id) FROM numeric_kinds;
UPDATE numeric_kinds SET u = u + 1 WHERE id = 1;

-- topic: innodb dates
CREATE TABLE moments (id INT PRIMARY KEY, dt DATETIME, ts TIMESTAMP NULL, ti TIME, KEY moments_dt (dt));
INSERT INTO moments SELECT n, DATE_ADD('2019-12-25 00:00:00', INTERVAL n * 7919 SECOND), DATE_ADD('2001-01-01', INTERVAL n HOUR),
  SEC_TO_TIME(n * 61) FROM numbers WHERE n < 3000 ORDER BY n;
INSERT INTO moments VALUES (9001, '2020-02-30 00:00:00', NULL, NULL);
INSERT INTO moments VALUES (9002, NULL, '1969-01-01 00:00:00', NULL);
INSERT INTO moments VALUES (9003, NULL, NULL, '839:00:00');
SELECT COUNT(*), MIN(dt), MAX(dt), MIN(ts), MAX(ts), MAX(ti) FROM moments;
SELECT id, dt, ts, ti FROM moments WHERE dt BETWEEN '2020-02-28' AND '2020-03-01 12:00:00' ORDER BY dt LIMIT 20;
SELECT YEAR(dt), WEEK(dt, 3), COUNT(*) FROM moments GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 45;
SELECT HOUR(dt), COUNT(*), SUM(SECOND(dt)) FROM moments GROUP BY HOUR(dt) ORDER BY 1;
SELECT DATE_ADD('2020-01-31', INTERVAL 1 MONTH), DATE_SUB('2020-03-31', INTERVAL 1 MONTH), '2020-02-28' + INTERVAL 2 DAY;
SELECT DATEDIFF('2020-03-01', '2019-03-01'), TIMESTAMPDIFF(MONTH, '2019-01-31', '2020-02-29'), TO_DAYS('2000-01-01');
SELECT LAST_DAY('2100-02-01'), DAYOFWEEK('2000-01-01'), DAYOFYEAR('2020-12-31'), WEEKOFYEAR('2021-01-03'), DAYNAME('2020-02-29');
SELECT DATE_FORMAT('2009-10-04 22:23:00', '%W %M %Y %j %U %H:%i:%s %p %e %b'), STR_TO_DATE('04/31/2004', '%m/%d/%Y');
SELECT STR_TO_DATE('4 March 2012 5:06', '%e %M %Y %H:%i'), MAKEDATE(2011, 60), MAKETIME(12, 15, 30), PERIOD_DIFF(200802, 200703);
SELECT FROM_UNIXTIME(1234567890), UNIX_TIMESTAMP('2001-09-09 01:46:40'), ADDTIME('10:00:00', '14:30:01'), TIMEDIFF('10:00:00', '12:00:01');
SELECT CONVERT_TZ('2020-06-01 12:00:00', '+00:00', '+05:30'), TIME_TO_SEC('838:59:59'), SEC_TO_TIME(-5000);
-- since: mysql 5.6.4, mariadb 5.3
SELECT CAST('2020-01-01 10:11:12.987654' AS DATETIME(3)), CAST('10:11:12.5' AS TIME(1)), MICROSECOND('2020-01-01 10:11:12.000123');

-- topic: innodb strings
SELECT CONCAT_WS('-', 'a', NULL, 'b'), ELT(2, 'x', 'y'), FIELD('c', 'a', 'b', 'c'), FIND_IN_SET('b', 'a,b'), INSERT('abcdef', 2, 3, 'X');
SELECT HEX('abc'), UNHEX('616263'), SOUNDEX('Robert'), SUBSTRING_INDEX('a.b.c.d', '.', -2), LOCATE('b', 'abcb', 3), QUOTE('a''b');
SELECT CRC32('text'), SHA1('text'), SHA2('text', 256), HEX(AES_ENCRYPT('text', 'key')), CHAR(77, 121), ORD('é'), SPACE(3);
SELECT category, GROUP_CONCAT(id ORDER BY id SEPARATOR '+') FROM items WHERE id < 200 AND category < 40 GROUP BY category ORDER BY category;
SELECT MD5(GROUP_CONCAT(x.h ORDER BY x.h)) FROM (SELECT LEFT(MD5(name), 6) AS h FROM items WHERE id < 140) x;
SELECT * FROM (SELECT category, COUNT(*), SUM(price) FROM items WHERE category < 6 GROUP BY category WITH ROLLUP) x
  ORDER BY category IS NULL, category;
SELECT SUM(CRC32(name)), SUM(CRC32(CONCAT(note, made))), BIT_XOR(CRC32(CONCAT(price, weight))) FROM items;
