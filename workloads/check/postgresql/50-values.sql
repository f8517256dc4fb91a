-- topic: postgresql collations
SELECT word FROM words ORDER BY word COLLATE "C", id;
SELECT word FROM words ORDER BY word COLLATE "POSIX" DESC, id;
SELECT id FROM words WHERE word COLLATE "C" BETWEEN 'a' AND 'zz' ORDER BY id;
SELECT id, octet_length(word), encode(convert_to(word, 'UTF8'), 'hex'), initcap(word) FROM words ORDER BY id;
SELECT COUNT(*) FROM words WHERE word ILIKE '%E%';
SELECT word FROM words WHERE word COLLATE "nowhere" > 'a';
SELECT normalize(U&'\0061\0308', NFC) = 'ä', U&'\00e4' IS NFC NORMALIZED, unistr('\00e9');
CREATE INDEX words_lower ON words (lower(word));
SELECT id FROM words WHERE lower(word) = 'zebra' ORDER BY id;

-- topic: postgresql regular expressions
SELECT COUNT(*), SUM(id) FROM items WHERE name ~ '^item-0+[1-5]{2}';
SELECT COUNT(*), SUM(id) FROM items WHERE note ~* 'AA.*(b|c)$';
SELECT regexp_replace('one 22 three 4', '[0-9]+', '#', 'g'), substring('one 22 three' FROM '[a-z]{4,}'), 'abc' SIMILAR TO '(a|b)%';
SELECT SUM(length(regexp_replace(note, '[a-f]+', '-', 'g'))) FROM items;
SELECT m FROM regexp_matches('a1b22c333', '([a-z])([0-9]+)', 'g') m ORDER BY m;
SELECT string_to_array('a,b,,c', ','), regexp_split_to_array('one  two', '\s+'), split_part('a.b.c', '.', 2);
SELECT 'x' ~ '(';

-- topic: postgresql numbers
SELECT 7 / 2, -7 / 2, 7 % 3, 7.0 / 2, 2 ^ 10, |/ 144.0, div(17, 5), @ -5;
SELECT trunc(2.789, 2), trunc(-2.7), round(2.5), round(2.5::float8), round(-3.5::float8), width_bucket(5.35, 0.024, 10.06, 5);
SELECT 2147483647::int4 + 1::int4;
SELECT 9223372036854775807 + 1;
SELECT 32767::int2 + 1::int2;
SELECT 'NaN'::numeric > 1e100, 'Infinity'::float8::text, ('NaN'::float8 = 'NaN'::float8), 'Infinity'::numeric::text;
SELECT 0.1::float8::text, 1e20::float8::text, 1e-7::float8::text, (1/3::float8)::text, 123456789012345678::float8::text, 0.1::float4::text;
SELECT (0.1::float8 + 0.2::float8)::text, 1e15::float8::text, 1e14::float8::text, '-0'::float8::text, 1.7976931348623157e308::float8::text;
SELECT 1e308::float8 * 10;
SELECT exp(1000::float8);
SELECT ln(0);
SELECT sqrt(-1.0);
SELECT factorial(20), gcd(1071, 462), lcm(12, 18), 1234567890123456789012345678901234567890 % 97;
SELECT 2::numeric ^ 200, round(exp(2.5), 20), round(ln(7.5), 20), round(sqrt(2::numeric), 30), round(power(1.1, 35.5), 15);
SELECT round(stddev_pop(price), 8), round(var_samp(price), 8), round(stddev(id), 8) FROM items;
SELECT round(corr(price::float8, weight)::numeric, 9), round(regr_slope(weight, id)::numeric, 9) FROM items;
SELECT to_char(1234567.891, '9,999,999.99'), to_char(-0.5, 'S0.00'), to_char(485, 'RN'), to_number('1,234.5', '9,999.9'), to_hex(255);
SELECT bit_and(id), bit_or(id), bool_and(id > -1), bool_or(category > 190), every(price >= 0) FROM items;
SELECT B'1010' | B'0110', ~B'1010', B'1010' << 1, 5 # 3, 91::bit(8)::text, x'1F'::int;
SELECT 5::text, '12'::int, '  7 '::int, 3.7::int, 2.5::int, -2.5::int, true::int, 1::boolean;
SELECT '12abc'::int;
SELECT cast('1e400' AS float8);

-- topic: postgresql dates
CREATE TABLE moments (id INT PRIMARY KEY, ts TIMESTAMP, tz TIMESTAMPTZ, ti TIME, iv INTERVAL);
INSERT INTO moments SELECT n, TIMESTAMP '2019-12-25' + n * INTERVAL '7919 seconds', TIMESTAMPTZ '2001-01-01 00:00+00' + n * INTERVAL '1 hour',
  TIME '00:00' + n * INTERVAL '61 seconds', n * INTERVAL '1 day 3 hours' FROM generate_series(0, 2999) n;
CREATE INDEX moments_ts ON moments (ts);
INSERT INTO moments (id, ts) VALUES (9001, '2020-02-30');
INSERT INTO moments (id, ti) VALUES (9002, '25:00');
SELECT COUNT(*), MIN(ts), MAX(ts), MIN(tz), MAX(tz), MAX(ti), SUM(iv)::text FROM moments;
SELECT id, ts, tz, ti, iv::text FROM moments WHERE ts BETWEEN '2020-02-28' AND '2020-03-01 12:00' ORDER BY ts LIMIT 20;
SELECT date_trunc('week', ts), COUNT(*) FROM moments GROUP BY 1 ORDER BY 1;
SELECT EXTRACT(HOUR FROM ts), COUNT(*), SUM(EXTRACT(SECOND FROM ts)) FROM moments GROUP BY 1 ORDER BY 1;
SELECT DATE '2020-01-31' + INTERVAL '1 month', DATE '2020-03-31' - INTERVAL '1 month', DATE '2020-03-01' - DATE '2019-03-01';
SELECT age(TIMESTAMP '2020-02-29', TIMESTAMP '1999-12-31')::text, justify_hours(INTERVAL '53 hours')::text, INTERVAL '1-2' YEAR TO MONTH::text;
SELECT EXTRACT(isodow FROM DATE '2021-01-03'), EXTRACT(week FROM DATE '2021-01-03'), EXTRACT(isoyear FROM DATE '2021-01-03'),
  EXTRACT(doy FROM DATE '2020-12-31'), EXTRACT(epoch FROM TIMESTAMP '2001-09-09 01:46:40');
SELECT to_char(TIMESTAMP '2009-10-04 22:23:00', 'FMDay, DD Mon YYYY HH24:MI:SS AM J'), to_date('05 Dec 2000', 'DD Mon YYYY');
SELECT to_timestamp(1234567890), TIMESTAMPTZ '2020-06-01 12:00+05:30', TIMESTAMP '2020-06-01 12:00' AT TIME ZONE 'UTC';
SELECT make_date(2013, 7, 15), make_interval(days => 10)::text, date_part('month', INTERVAL '2 years 3 months'), isfinite(DATE 'infinity');
SELECT (DATE '2020-01-01', DATE '2020-06-01') OVERLAPS (DATE '2020-05-01', DATE '2021-01-01'), DATE '2020-02-28' + 2;
SELECT d::date FROM generate_series(DATE '2020-02-25', DATE '2020-03-05', INTERVAL '2 days') d ORDER BY 1;
SELECT make_date(2013, 2, 30);

-- topic: postgresql strings
SELECT 'a' || 'b' || 1, concat_ws('-', 'a', NULL, 'b'), initcap('one two'), translate('12345', '143', 'ax'), overlay('abcdef' PLACING 'X' FROM 2 FOR 3);
SELECT format('%s %I %L', 'a', 'B c', 'd''e'), quote_literal('a''b'), chr(233), ascii('é'), btrim('xxaxx', 'x'), strpos('abc', 'c');
SELECT encode('\x0001ff'::bytea, 'base64'), decode('AAH/', 'base64'), get_byte('\x0a0b'::bytea, 1), sha256('text'::bytea), crc.c
  FROM (SELECT md5('x') AS c) crc;
SELECT string_agg(id::text, '+' ORDER BY id), array_agg(category ORDER BY id) FROM items WHERE id < 30;
SELECT category, string_agg(name, ',' ORDER BY name DESC) FROM items WHERE id < 200 AND category < 20 GROUP BY category ORDER BY category;
SELECT md5(string_agg(name || price || weight || made || coalesce(note, '-'), ';' ORDER BY id)) FROM items;
SELECT category, state, COUNT(*), SUM(quantity) FROM orders JOIN items ON items.id = item WHERE category < 3
  GROUP BY ROLLUP (category, state) ORDER BY category NULLS LAST, state NULLS LAST;
SELECT state, MOD(id, 3), COUNT(*) FROM orders GROUP BY CUBE (state, MOD(id, 3)) ORDER BY 1 NULLS FIRST, 2 NULLS FIRST, 3;
SELECT state, COUNT(*) FILTER (WHERE quantity > 10), percentile_disc(0.5) WITHIN GROUP (ORDER BY quantity),
  mode() WITHIN GROUP (ORDER BY quantity) FROM orders GROUP BY state ORDER BY state;
SELECT DISTINCT ON (category) category, id, price FROM items WHERE category < 12 ORDER BY category, price DESC, id;
SELECT id, note FROM items WHERE id < 40 ORDER BY note DESC NULLS LAST, id FETCH FIRST 12 ROWS ONLY;

-- topic: postgresql arrays and ranges
SELECT ARRAY[1, 2, 3] || 4, ARRAY[1, 2] @> ARRAY[2], array_length(ARRAY[[1, 2], [3, 4]], 1), (ARRAY[5, 6, 7])[2:3], 3 = ANY (ARRAY[1, 2, 3]);
SELECT unnest(ARRAY[3, 1, 2]) AS u ORDER BY u;
SELECT array_to_string(array_agg(d ORDER BY d DESC), '/'), array_position(ARRAY[4, 5, 6], 6), cardinality(ARRAY[]::int[]) FROM digits;
SELECT (int4range(1, 10) * int4range(5, 20))::text, int4range(1, 5) && int4range(5, 6), upper(daterange('2020-01-01', '2020-02-01'));
SELECT (ARRAY[1, 2])[5], ARRAY[1, NULL, 3]::text, ARRAY['a,b', 'c"d']::text;
SELECT ARRAY[1, 2]::text[] || 'x'::text, '{1,2'::int[];

-- topic: postgresql json
CREATE TABLE documents (id INT PRIMARY KEY, doc JSONB NOT NULL, raw JSON);
INSERT INTO documents SELECT n, jsonb_build_object('id', n, 'tags', jsonb_build_array('t' || n % 7, 'x'), 'at', jsonb_build_object('x', n * 1.5, 'y', NULL)),
  json_build_object('b', n, 'a', 'text') FROM generate_series(0, 999) n;
CREATE INDEX documents_doc ON documents USING gin (doc jsonb_path_ops);
INSERT INTO documents VALUES (9999, '{"broken": ');
SELECT doc::text, raw::text FROM documents WHERE id < 5 ORDER BY id;
SELECT doc ->> 'id', doc #>> '{tags,0}', doc -> 'at' ->> 'x' FROM documents WHERE id BETWEEN 10 AND 15 ORDER BY id;
SELECT COUNT(*) FROM documents WHERE doc @> '{"tags": ["t3"]}';
SELECT doc #>> '{tags,0}', COUNT(*), SUM((doc #>> '{at,x}')::numeric) FROM documents GROUP BY 1 ORDER BY 1;
SELECT jsonb_set('{"a": 1}', '{b}', '2')::text, ('{"a": 1, "b": 2}'::jsonb - 'a')::text, ('[1, 2]'::jsonb || '3')::text, '{"b": 1, "a": 1, "b": 2}'::jsonb::text;
SELECT jsonb_typeof('[1]'), jsonb_array_length('[1, 2, 3]'), '{"a": {"b": 1}}'::jsonb ? 'a', jsonb_pretty('{"a": [1, 2]}');
SELECT key, value::text FROM jsonb_each('{"z": 1, "y": [true, null], "x": "s"}') ORDER BY key;
SELECT q::text FROM jsonb_path_query('{"a": [1, 5, 9]}', '$.a[*] ? (@ > 2)') q ORDER BY 1;
UPDATE documents SET doc = jsonb_set(doc, '{at,y}', to_jsonb(id * 2)) WHERE id < 100;
SELECT COUNT(*), SUM((doc #>> '{at,y}')::int) FROM documents WHERE doc #>> '{at,y}' IS NOT NULL;
SELECT json_agg(d ORDER BY d)::text, json_object_agg(d, d * d ORDER BY d)::text FROM digits WHERE d < 4;
SELECT to_json(row(1, 'a', NULL))::text, json_strip_nulls('{"a": null, "b": 1}')::text, '1e2'::jsonb::text, '"\u00e4"'::jsonb::text;

-- topic: postgresql text search
SELECT to_tsvector('simple', 'Quick brown foxes and brown dogs')::text, to_tsquery('simple', 'brown & !lazy')::text;
SELECT to_tsvector('english', 'Running databases were compared quickly')::text;
SELECT COUNT(*) FROM items WHERE to_tsvector('simple', name) @@ to_tsquery('simple', 'item:*');
