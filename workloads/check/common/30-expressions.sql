-- topic: integers
SELECT 7 + 5 * 3, (7 + 5) * 3, -7 + 2, 17 - 40;
SELECT MOD(17, 5), MOD(-17, 5), MOD(17, -5), ABS(-12), SIGN(-3), SIGN(0);
SELECT 2147483647 + 0, -2147483648 + 0, 9223372036854775807 - 1;
SELECT 3 = 3, 3 <> 4, 3 < 2, NOT (2 > 1), 1 = 1 AND 2 = 3, 1 = 1 OR 2 = 3;
SELECT 5 BETWEEN 1 AND 5, 6 IN (1, 2, 3), 6 NOT IN (1, 2, 3);
SELECT 1 & 3, 5 | 2, 1 << 10, 1024 >> 3, 6 & 4;
CREATE TABLE whole (id INT PRIMARY KEY, small SMALLINT, large BIGINT);
INSERT INTO whole VALUES (1, 32767, 9223372036854775807), (2, -32768, -9223372036854775808), (3, NULL, 0);
INSERT INTO whole VALUES (4, 32768, 0);
INSERT INTO whole VALUES (5, 0, 9223372036854775808);
SELECT * FROM whole ORDER BY id;
SELECT id, large + 1 FROM whole WHERE id = 1;
SELECT id, large - small FROM whole WHERE id = 3;
SELECT SUM(small), MIN(large), MAX(large) FROM whole;
UPDATE whole SET small = small + 1 WHERE id = 1;

-- topic: decimals
SELECT 0.1 + 0.2, 1.10 * 3, 10.00 - 0.001, 2.5 * 2.5;
SELECT ROUND(2.5, 0), ROUND(3.5, 0), ROUND(-2.5, 0), ROUND(2.445, 2), ROUND(-2.445, 2), ROUND(1234.5678, -2);
SELECT CAST(12345.6789 AS DECIMAL(10,2)), CAST(0.005 AS DECIMAL(5,2)), CAST(-0.005 AS DECIMAL(5,2));
SELECT FLOOR(2.7), FLOOR(-2.7), CEILING(2.1), CEILING(-2.1), ABS(-2.75), MOD(10.5, 3);
SELECT 99999999999999999999.99 + 0.01, 12345678901234567890 * 98765432109876543210;
SELECT 1.0 / 3, 2.0 / 3, 10 / 4.0, 1.00 / 7;
CREATE TABLE money (id INT PRIMARY KEY, amount DECIMAL(8,2) NOT NULL, rate DECIMAL(20,10));
INSERT INTO money VALUES (1, 999999.99, 0.0000000001), (2, -999999.99, 1234567890.0123456789), (3, 0.01, NULL);
INSERT INTO money VALUES (4, 1000000.00, 0);
INSERT INTO money VALUES (5, 999999.994, 0), (6, 0.005, 0), (7, -0.015, 0);
SELECT * FROM money ORDER BY id;
SELECT SUM(amount), SUM(rate), ROUND(AVG(amount), 8), SUM(amount * rate) FROM money;
SELECT id, amount * amount, amount * rate, amount + rate FROM money ORDER BY id;
SELECT id FROM money WHERE amount > 0.009 ORDER BY amount DESC, id;
SELECT id FROM money WHERE amount = 0.01 ORDER BY id;
UPDATE money SET amount = amount * 2 WHERE id = 1;
UPDATE money SET amount = amount / 3 WHERE id IN (2, 3, 5);
SELECT id, amount FROM money ORDER BY id;
SELECT 1 / 0;
SELECT GREATEST(1.5, 1.45, 1.55), LEAST(1.5, 1.45, 1.55);

-- topic: floats
CREATE TABLE floating (id INT PRIMARY KEY, f DOUBLE PRECISION, s REAL);
INSERT INTO floating VALUES (1, 0.1, 0.5), (2, 1e300, 1.25), (3, -1e-300, -2.5), (4, 123456789.125, 0), (5, 1e15, 1024);
INSERT INTO floating VALUES (6, 5e-324, 0), (7, 1.7976931348623157e308, 0), (8, 0.30000000000000004, 0), (9, NULL, NULL);
SELECT * FROM floating ORDER BY f, id;
SELECT id, f * 2 FROM floating WHERE id IN (1, 4, 5, 8) ORDER BY id;
SELECT id FROM floating WHERE f = 0.1;
SELECT id FROM floating WHERE f > 1e14 ORDER BY id;
SELECT f * 10 FROM floating WHERE id = 7;
SELECT SUM(s), MIN(s), MAX(s), AVG(s) FROM floating;
SELECT id, FLOOR(f), CEILING(f), ABS(f) FROM floating WHERE id IN (1, 4, 5) ORDER BY id;
SELECT SQRT(2.25), SQRT(144), POWER(2, 30), POWER(2, -3);
SELECT ROUND(EXP(1.0), 10), ROUND(LN(10.0), 10), ROUND(POWER(1.5, 2.0), 6);
SELECT SUM(weight * weight) / 16, SUM(weight) / COUNT(*) FROM items;

-- topic: strings
SELECT CONCAT('a', 'b', 'c'), UPPER('mixed Case 1'), LOWER('MIXED Case 1'), LENGTH('four'), CHAR_LENGTH('fünf');
SELECT SUBSTRING('differential' FROM 4 FOR 5), SUBSTRING('differential' FROM 9), LEFT('check', 2), RIGHT('check', 2);
SELECT TRIM('  x '), LTRIM('  x '), RTRIM('  x '), TRIM(LEADING '0' FROM '0012'), TRIM(BOTH '-' FROM '--a-b--');
SELECT REPLACE('one two one', 'one', '1'), REVERSE('stressed'), REPEAT('ab', 4), LPAD('7', 3, '0'), RPAD('x', 4, '.');
SELECT POSITION('ent' IN 'differential'), POSITION('z' IN 'abc'), ASCII('A'), MD5('text'), MD5('');
SELECT 'abc' < 'abd', 'abc' < 'ab', 'B' < 'a', 'a' = 'a', '' < 'a';
SELECT 'a_c' LIKE 'a|_c' ESCAPE '|', 'abc' LIKE 'a|_c' ESCAPE '|', 'abc' LIKE '%', 'abc' LIKE '_b_', 'ABC' LIKE 'abc';
SELECT COUNT(*), SUM(CHAR_LENGTH(name)), MAX(REVERSE(name)), MIN(UPPER(note)) FROM items;
SELECT COUNT(DISTINCT RIGHT(note, 2)), MAX(LEFT(note, 8)), SUM(LENGTH(REPLACE(note, 'a', ''))) FROM items;
SELECT MD5(CONCAT(name, category)), LPAD(name, 14, '*') FROM items WHERE id < 25 ORDER BY id;
SELECT SUM(POSITION('ff' IN note)), SUM(ASCII(RIGHT(note, 1))) FROM items;
SELECT COALESCE(NULL, NULL, 'third'), NULLIF('a', 'a'), NULLIF('a', 'b'), COALESCE(note, 'none') FROM items WHERE id = 11;
CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(10) NOT NULL, fixed CHAR(6) NOT NULL);
INSERT INTO words VALUES (1, 'Zebra', 'ab'), (2, 'apple', 'ab '), (3, 'Äpfel', 'abc'), (4, 'zebra', ''), (5, 'éclair', 'x y');
INSERT INTO words VALUES (6, 'much too long', 'a');
INSERT INTO words VALUES (7, 'ok', 'far too long');
INSERT INTO words VALUES (8, '日本語', '日本'), (9, 'naïve', 'ñ'), (10, '', ' '), (11, 'straße', 'ß'), (12, 'ЖЗИ', 'ж');
SELECT id, word, CHAR_LENGTH(word), UPPER(word) FROM words ORDER BY word, id;
SELECT id, fixed, CHAR_LENGTH(fixed), CONCAT('<', fixed, '>') FROM words ORDER BY fixed, id;
SELECT fixed, COUNT(*) FROM words GROUP BY fixed ORDER BY fixed;
SELECT id FROM words WHERE fixed = 'ab' ORDER BY id;
SELECT id, LEFT(word, 2), REVERSE(word), SUBSTRING(word FROM 2 FOR 2) FROM words ORDER BY id;

-- topic: nulls and cases
SELECT NULL = NULL, NULL IS NULL, NULL <> 1, NULL AND FALSE, NULL OR TRUE, NOT NULL;
SELECT 1 + NULL, COALESCE(1 + NULL, 7), CASE WHEN NULL THEN 1 ELSE 2 END, NULL IN (1, 2), 1 IN (1, NULL), 3 IN (1, NULL);
SELECT CASE 3 WHEN 1 THEN 'one' WHEN 3 THEN 'three' END, CASE WHEN 1 > 2 THEN 'no' END;
SELECT id, CASE WHEN price < 100 THEN 'low' WHEN price < 1000 THEN 'middle' ELSE 'high' END FROM items WHERE id < 60 ORDER BY id;
SELECT CASE WHEN price < 100 THEN 'low' WHEN price < 1000 THEN 'middle' ELSE 'high' END, COUNT(*) FROM items GROUP BY 1 ORDER BY 1;
SELECT COUNT(*), COUNT(referrer), SUM(COALESCE(referrer, -1)) FROM buyers;

-- topic: dates
SELECT DATE '2020-02-29', DATE '1999-12-31', DATE '2000-01-01' > DATE '1999-12-31';
SELECT EXTRACT(YEAR FROM DATE '2024-02-29'), EXTRACT(MONTH FROM DATE '2024-02-29'), EXTRACT(DAY FROM DATE '2024-02-29');
SELECT EXTRACT(QUARTER FROM DATE '2024-11-30'), EXTRACT(WEEK FROM DATE '2021-01-03');
CREATE TABLE days (day DATE PRIMARY KEY, n INT NOT NULL);
INSERT INTO days VALUES ('2019-02-28', 1), ('2020-02-29', 2), ('1000-01-01', 3), ('9999-12-31', 4);
INSERT INTO days VALUES ('2019-02-29', 5);
INSERT INTO days VALUES ('2019-13-01', 6);
INSERT INTO days VALUES ('not a day', 7);
SELECT * FROM days ORDER BY day;
SELECT COUNT(*), MIN(day), MAX(day) FROM orders WHERE day BETWEEN '2020-03-05' AND '2020-04-06';
SELECT EXTRACT(MONTH FROM day), SUM(quantity) FROM orders GROUP BY 1 ORDER BY 1;
SELECT made, COUNT(*) FROM items WHERE EXTRACT(YEAR FROM made) = 2007 GROUP BY made ORDER BY made;
