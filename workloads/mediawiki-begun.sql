-- mediawiki-kept.sql with a transaction begun by hand. With autocommit off, the first statement of a transaction that is
-- begun by itself is not answered from the query cache (MySQL's bug 42197).

-- prepare: transactions are ended by hand
SET autocommit = 0;
-- prepare: clock
SET timestamp = 1362268800;
-- prepare: Q0
FLUSH QUERY CACHE;
-- prepare: begin
START TRANSACTION;

-- name: Q1
SELECT COUNT(*) FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0;

-- name: Q2
SELECT COUNT(*) FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0
AND p.page_touched > DATE_FORMAT(NOW() - INTERVAL 1 YEAR, '%Y0101000000');

-- name: Q3
SELECT p.page_id FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0
ORDER BY p.page_touched DESC, p.page_id LIMIT 10;

-- name: Q4
SELECT r.rev_user, COUNT(*) AS c FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0
GROUP BY r.rev_user ORDER BY c DESC, r.rev_user;

-- name: Q5
SELECT SUBSTRING(r.rev_timestamp, 1, 6) AS month, COUNT(*) AS c FROM page p JOIN revision r ON p.page_id = r.rev_page
WHERE p.page_is_redirect = 0 AND p.page_namespace = 0
GROUP BY SUBSTRING(r.rev_timestamp, 1, 6) ORDER BY c DESC, month;

-- show: cache hits
SHOW GLOBAL STATUS LIKE 'Qcache_hits';
