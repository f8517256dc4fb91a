-- Six questions that MediaWiki's special pages ask of the tables `page` and `revision` (workloads/mediawiki.lua).
-- Every answer has one order only, so that its rows are the same on any server.

-- name: longest pages
SELECT page_id, page_title, page_len FROM page
WHERE page_namespace = 0 AND page_is_redirect = 0
ORDER BY page_len DESC, page_id LIMIT 50;

-- name: size of namespaces
SELECT page_namespace, COUNT(*), SUM(page_len), MAX(page_len), SUM(page_counter) FROM page
GROUP BY page_namespace ORDER BY page_namespace;

-- name: oldest pages
SELECT page_id, page_title, rev_timestamp FROM page JOIN revision ON rev_id = page_latest
WHERE page_namespace = 0 AND page_is_redirect = 0
ORDER BY rev_timestamp, page_id LIMIT 50;

-- name: busiest authors
SELECT rev_user_text, COUNT(*), SUM(rev_len), MAX(rev_timestamp) FROM revision
WHERE rev_deleted = 0
GROUP BY rev_user_text ORDER BY COUNT(*) DESC, rev_user_text LIMIT 50;

-- name: pages with most authors
SELECT rev_page, COUNT(*), COUNT(DISTINCT rev_user_text) FROM revision
GROUP BY rev_page ORDER BY COUNT(DISTINCT rev_user_text) DESC, COUNT(*) DESC, rev_page LIMIT 50;

-- name: small edits by namespace
SELECT page_namespace, COUNT(*), SUM(rev_len) FROM revision JOIN page ON page_id = rev_page
WHERE rev_minor_edit = 1 AND rev_timestamp >= '20060101000000'
GROUP BY page_namespace ORDER BY page_namespace;
