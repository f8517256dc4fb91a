-- topic: selection
SELECT * FROM items WHERE id = 4711;
SELECT * FROM items WHERE id = 10000;
SELECT id, name, price FROM items WHERE id IN (1, 17, 4711, 9999, 10001) ORDER BY id;
SELECT id, category, price FROM items WHERE id BETWEEN 500 AND 520 ORDER BY id;
SELECT COUNT(*) FROM items WHERE id > 9000 OR id < 10;
SELECT COUNT(*), SUM(id) FROM items WHERE NOT (category >= 10 AND category <> 50);
SELECT id, name FROM items WHERE name = 'item-04711';
SELECT id, name FROM items WHERE name LIKE 'item-0012_' ORDER BY id;
SELECT COUNT(*) FROM items WHERE name LIKE '%99';
SELECT COUNT(*) FROM items WHERE name NOT LIKE '%1%';
SELECT COUNT(*) FROM items WHERE note IS NULL;
SELECT COUNT(*), SUM(id) FROM items WHERE note LIKE 'note %ab%cd%';
SELECT id, made FROM items WHERE made BETWEEN DATE '2003-04-04' AND DATE '2003-04-28' ORDER BY id LIMIT 40;
SELECT COUNT(*), SUM(price) FROM items WHERE made >= DATE '2020-02-29';
SELECT id, price FROM items WHERE category = 42 AND price BETWEEN 2000 AND 3000 ORDER BY price, id;
SELECT id FROM items WHERE (category, id) IN ((0, 0), (0, 97), (62, 1), (5, 5)) ORDER BY id;
SELECT COUNT(*) FROM items WHERE weight > 100.5 AND weight <= 200.25;
SELECT COUNT(*) FROM items WHERE price * 2 > 15000.5;
SELECT id FROM items WHERE id < 40 AND MOD(id, 7) = 3 ORDER BY id;
SELECT DISTINCT state FROM orders ORDER BY state;
SELECT DISTINCT category, MOD(id, 2) FROM items WHERE category < 4 ORDER BY 1, 2;
SELECT COUNT(*) FROM orders WHERE buyer <> 5;
SELECT COUNT(*) FROM orders WHERE buyer = NULL;
SELECT COUNT(*) FROM orders WHERE buyer IS NULL OR quantity = 23;
SELECT a, b, c FROM pairs WHERE a = 7 AND b > 1800 ORDER BY a, b;
SELECT nowhere FROM items;
SELECT id FROM items WHERE;

-- topic: sorting
SELECT id, name FROM items ORDER BY name LIMIT 10;
SELECT id, name FROM items ORDER BY name DESC LIMIT 10;
SELECT id, price FROM items ORDER BY price DESC, id LIMIT 25;
SELECT id, category, made FROM items ORDER BY made, category DESC, id LIMIT 30;
SELECT id, note FROM items ORDER BY note, id LIMIT 8 OFFSET 905;
SELECT id, weight FROM items ORDER BY weight DESC, id DESC LIMIT 20 OFFSET 5000;
SELECT id, category FROM items ORDER BY category, price, id LIMIT 15 OFFSET 9985;
SELECT id FROM items ORDER BY MOD(id * 7919, 10007), id LIMIT 20;
SELECT id, quantity FROM orders ORDER BY state DESC, quantity DESC, id DESC LIMIT 10;
SELECT id, buyer FROM orders WHERE id < 90 ORDER BY CASE WHEN buyer IS NULL THEN 1 ELSE 0 END, buyer, id LIMIT 100;
SELECT a, b FROM pairs ORDER BY c, b DESC, a LIMIT 20;
SELECT SUM(x.id) FROM (SELECT id FROM items ORDER BY note DESC, id LIMIT 3000) x;
SELECT id, name, price, weight, made FROM items WHERE MOD(id, 5) = 2 ORDER BY weight, price DESC, name, id;

-- topic: aggregates
SELECT COUNT(*), COUNT(note), COUNT(DISTINCT category), COUNT(DISTINCT note) FROM items;
SELECT MIN(price), MAX(price), SUM(price), ROUND(AVG(price), 6) FROM items;
SELECT MIN(name), MAX(name), MIN(made), MAX(made), MIN(note), MAX(note) FROM items;
SELECT MIN(weight), MAX(weight), SUM(weight), AVG(weight) FROM items;
SELECT MIN(id), MAX(id), MIN(category), MAX(category) FROM items WHERE id > 10;
SELECT MAX(id), MIN(id), SUM(id), COUNT(id) FROM items WHERE id > 20000;
SELECT state, MAX(quantity), MIN(quantity), MAX(item), MIN(item), MAX(buyer) FROM orders GROUP BY state ORDER BY state;
SELECT MAX(MOD(id * 7919, 10007)), MIN(MOD(id * 7919, 10007)), MAX(MOD(id * 31, 1024)), MIN(MOD(id * 17, 509)) FROM items;
SELECT EXTRACT(MONTH FROM made), MAX(category), MIN(category), MAX(weight), MIN(weight), MAX(name), MIN(note), MAX(made)
  FROM items GROUP BY 1 ORDER BY 1;
SELECT category, COUNT(*), SUM(price), MIN(id), MAX(id) FROM items GROUP BY category ORDER BY category;
SELECT state, COUNT(*), SUM(quantity), MIN(day), MAX(day), COUNT(DISTINCT buyer) FROM orders GROUP BY state ORDER BY state;
SELECT buyer, COUNT(*) FROM orders GROUP BY buyer HAVING COUNT(*) > 19 ORDER BY buyer;
SELECT buyer, state, SUM(quantity) FROM orders WHERE buyer < 12 GROUP BY buyer, state ORDER BY buyer, state;
SELECT MOD(id, 10), COUNT(*), SUM(weight) FROM items GROUP BY MOD(id, 10) ORDER BY 1;
SELECT EXTRACT(YEAR FROM made), EXTRACT(MONTH FROM made), COUNT(*) FROM items GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 60;
SELECT category, MAX(price) - MIN(price) FROM items GROUP BY category HAVING MAX(price) - MIN(price) > 9900 ORDER BY 2, 1;
SELECT name, COUNT(*) FROM items GROUP BY name HAVING COUNT(*) > 1;
SELECT SUBSTRING(note FROM 6 FOR 1), COUNT(*), SUM(price) FROM items GROUP BY 1 ORDER BY COUNT(*) DESC, 1;
SELECT SUM(CASE WHEN state = 'a' THEN quantity ELSE 0 END), SUM(CASE WHEN state = 'b' THEN 1 END) FROM orders;
SELECT COUNT(*), MAX(c), SUM(s) FROM (SELECT buyer, COUNT(*) AS c, SUM(quantity) AS s FROM orders GROUP BY buyer) x;
SELECT SUM(category * price), SUM(weight * 4), SUM(MOD(id, 3) * 1000000) FROM items;
SELECT item, COUNT(*), SUM(quantity) FROM orders GROUP BY item HAVING COUNT(*) >= 2 ORDER BY item;

-- topic: joins
SELECT o.id, i.name, b.name, o.quantity * i.price
  FROM orders o JOIN items i ON i.id = o.item JOIN buyers b ON b.id = o.buyer WHERE o.id BETWEEN 200 AND 230 ORDER BY o.id;
SELECT COUNT(*), SUM(o.quantity * i.price) FROM orders o JOIN items i ON i.id = o.item;
SELECT COUNT(*), SUM(o.quantity), COUNT(b.id) FROM orders o LEFT JOIN buyers b ON b.id = o.buyer;
SELECT COUNT(*), COUNT(o.id) FROM orders o RIGHT JOIN items i ON i.id = o.item;
SELECT o.id, b.name FROM orders o LEFT JOIN buyers b ON b.id = o.buyer AND b.credit > 500 WHERE o.id < 30 ORDER BY o.id;
SELECT i.id FROM items i LEFT JOIN orders o ON o.item = i.id WHERE o.id IS NULL ORDER BY i.id;
SELECT b.id, r.name FROM buyers b JOIN buyers r ON r.id = b.referrer WHERE b.id < 40 ORDER BY b.id;
SELECT i.category, SUM(o.quantity), SUM(o.quantity * i.price)
  FROM items i JOIN orders o ON o.item = i.id GROUP BY i.category HAVING SUM(o.quantity) > 1250 ORDER BY 2 DESC, 1;
SELECT b.city, COUNT(*), SUM(o.quantity) FROM buyers b JOIN orders o ON o.buyer = b.id GROUP BY b.city ORDER BY b.city;
SELECT COUNT(*) FROM items a JOIN items b ON a.category = b.category AND a.id < b.id WHERE a.category < 5;
SELECT COUNT(*), SUM(a.d * b.d) FROM digits a CROSS JOIN digits b;
SELECT COUNT(*), MAX(a.id + b.id) FROM buyers a JOIN buyers b ON a.credit < b.credit AND a.city = b.city;
SELECT d, COUNT(i.id) FROM digits LEFT JOIN items i ON i.category = digits.d AND i.price < 500 GROUP BY d ORDER BY d;
SELECT COUNT(*) FROM orders o JOIN items i ON i.id = o.item AND i.made < o.day WHERE o.state IN ('a', 'c');
SELECT p.a, COUNT(*), MIN(q.b) FROM pairs p JOIN pairs q ON q.a = p.a + 1 AND q.b = p.b + 1 GROUP BY p.a ORDER BY p.a;
SELECT id, buyers.name, x.n FROM buyers JOIN (SELECT buyer AS id, COUNT(*) AS n FROM orders GROUP BY buyer) x USING (id)
  WHERE x.n = 20 ORDER BY id LIMIT 20;
SELECT COUNT(*) FROM digits NATURAL JOIN (SELECT n AS d FROM numbers WHERE n < 5) x;
SELECT o.state, i.category, COUNT(*) FROM orders o, items i, buyers b
  WHERE i.id = o.item AND b.id = o.buyer AND b.city = 'city-7' AND i.category IN (1, 2, 3)
  GROUP BY o.state, i.category ORDER BY o.state, i.category;

-- topic: subqueries
SELECT id, name FROM buyers WHERE id IN (SELECT buyer FROM orders WHERE quantity = 23 AND state = 'a') ORDER BY id LIMIT 30;
SELECT COUNT(*) FROM buyers b WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.buyer = b.id AND o.state = 'e');
SELECT COUNT(*) FROM items i WHERE EXISTS (SELECT 1 FROM orders o WHERE o.item = i.id AND o.quantity > 20);
SELECT id, price FROM items WHERE price = (SELECT MAX(price) FROM items);
SELECT id, category, price FROM items i
  WHERE price = (SELECT MIN(j.price) FROM items j WHERE j.category = i.category) AND category < 10 ORDER BY id;
SELECT COUNT(*) FROM items WHERE price > (SELECT AVG(price) FROM items);
SELECT COUNT(*) FROM items WHERE id NOT IN (SELECT item FROM orders);
SELECT COUNT(*) FROM buyers WHERE id NOT IN (SELECT buyer FROM orders);
SELECT d FROM digits WHERE d > ALL (SELECT a FROM pairs WHERE a < 6) ORDER BY d;
SELECT d FROM digits WHERE d = ANY (SELECT a FROM pairs WHERE b BETWEEN 3 AND 5) ORDER BY d;
SELECT id, (SELECT COUNT(*) FROM orders o WHERE o.buyer = b.id) AS n FROM buyers b ORDER BY n DESC, id LIMIT 15;
SELECT d, (SELECT MAX(id) FROM items WHERE category = d) FROM digits ORDER BY d;
SELECT (SELECT id FROM items WHERE category = 5);
SELECT (SELECT id FROM items WHERE id = -1);
SELECT COUNT(*) FROM (SELECT category FROM items GROUP BY category HAVING COUNT(*) > 103) x;
SELECT COUNT(*) FROM orders o WHERE (o.item, o.quantity) IN (SELECT id, category FROM items);
SELECT x.city, x.n FROM (SELECT city, COUNT(*) AS n FROM buyers GROUP BY city) x
  WHERE x.n > (SELECT COUNT(*) / 29 FROM buyers) ORDER BY x.city;

-- topic: sets
SELECT d FROM digits WHERE d < 3 UNION SELECT a FROM pairs WHERE a < 5 ORDER BY 1;
SELECT d FROM digits WHERE d < 3 UNION ALL SELECT n FROM numbers WHERE n < 5 ORDER BY 1;
SELECT COUNT(*) FROM (SELECT category FROM items UNION SELECT buyer FROM orders) x;
SELECT COUNT(*) FROM (SELECT category FROM items UNION ALL SELECT buyer FROM orders) x;
(SELECT id FROM items ORDER BY price, id LIMIT 3) UNION ALL (SELECT id FROM items ORDER BY price DESC, id LIMIT 3) ORDER BY 1;
-- since: mysql 8.0.31, mariadb 10.3, postgresql 9
SELECT category FROM items INTERSECT SELECT id FROM buyers WHERE id < 20 ORDER BY 1;
-- since: mysql 8.0.31, mariadb 10.3, postgresql 9
SELECT id FROM buyers EXCEPT SELECT buyer FROM orders ORDER BY 1;

-- topic: windows since: mysql 8.0, mariadb 10.2, postgresql 9
SELECT id, category, ROW_NUMBER() OVER (PARTITION BY category ORDER BY price, id) FROM items WHERE id < 300 ORDER BY 2, 3;
SELECT id, quantity, RANK() OVER (ORDER BY quantity), DENSE_RANK() OVER (ORDER BY quantity) FROM orders WHERE id < 60 ORDER BY id;
SELECT id, SUM(quantity) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM orders WHERE id < 50 ORDER BY id;
SELECT id, SUM(price) OVER (PARTITION BY category ORDER BY id) FROM items WHERE category < 2 ORDER BY category, id;
SELECT id, LAG(price) OVER (ORDER BY id), LEAD(price, 2) OVER (ORDER BY id) FROM items WHERE id < 30 ORDER BY id;
SELECT id, FIRST_VALUE(name) OVER w, LAST_VALUE(name) OVER w FROM items WHERE id < 40
  WINDOW w AS (PARTITION BY MOD(id, 4) ORDER BY id) ORDER BY id;
SELECT id, NTILE(7) OVER (ORDER BY credit, id) FROM buyers ORDER BY id LIMIT 60;
SELECT id, ROUND(CAST(PERCENT_RANK() OVER (ORDER BY credit) AS DECIMAL(12,9)), 6) FROM buyers ORDER BY id LIMIT 40;
SELECT SUM(r), MAX(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY state ORDER BY day, id) AS r FROM orders) x;
SELECT COUNT(*) FROM (SELECT id, MAX(price) OVER (PARTITION BY category) AS m, price FROM items) x WHERE m = price;
SELECT state, SUM(SUM(quantity)) OVER (ORDER BY state) FROM orders GROUP BY state ORDER BY state;
SELECT id, COUNT(*) OVER (ORDER BY quantity RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM orders WHERE id < 60 ORDER BY id;
SELECT id, AVG(weight) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM items WHERE id < 32 ORDER BY id;

-- topic: common table expressions since: mysql 8.0, mariadb 10.2.2, postgresql 9
WITH big AS (SELECT id, price FROM items WHERE price > 9990) SELECT COUNT(*), SUM(price) FROM big;
WITH a AS (SELECT category, COUNT(*) AS n FROM items GROUP BY category), b AS (SELECT MAX(n) AS n FROM a)
  SELECT a.category FROM a JOIN b ON a.n = b.n ORDER BY 1;
WITH RECURSIVE steps (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM steps WHERE n < 500) SELECT COUNT(*), SUM(n * n) FROM steps;
WITH RECURSIVE chain (id, referrer, depth) AS (
    SELECT id, referrer, 0 FROM buyers WHERE id = 400
    UNION ALL SELECT b.id, b.referrer, c.depth + 1 FROM buyers b JOIN chain c ON b.id = c.referrer)
  SELECT id, referrer, depth FROM chain ORDER BY depth;
WITH RECURSIVE fib (i, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT i + 1, b, a + b FROM fib WHERE i < 40) SELECT i, a FROM fib ORDER BY i;
WITH RECURSIVE under (id, depth) AS (
    SELECT id, 0 FROM buyers WHERE referrer IS NULL
    UNION ALL SELECT b.id, u.depth + 1 FROM buyers b JOIN under u ON b.referrer = u.id)
  SELECT depth, COUNT(*), SUM(id) FROM under GROUP BY depth ORDER BY depth;
