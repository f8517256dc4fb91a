-- The space that a table keeps when all its rows but one are deleted, and after a rebuild. Runs once: it changes the table.

-- prepare: statistics as loaded
ANALYZE TABLE sbtest1;
-- show: as loaded
SELECT table_rows, data_length, data_free FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'sbtest1';
-- prepare: last row
SET @last = (SELECT MAX(id) FROM sbtest1);
-- name: delete all rows but one
DELETE FROM sbtest1 WHERE id < @last;
-- prepare: statistics with one row
ANALYZE TABLE sbtest1;
-- show: one row left
SELECT table_rows, data_length, data_free FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'sbtest1';
-- name: rebuild of one row
ALTER TABLE sbtest1 ENGINE=InnoDB;
-- prepare: statistics rebuilt
ANALYZE TABLE sbtest1;
-- show: rebuilt
SELECT table_rows, data_length, data_free FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'sbtest1';
