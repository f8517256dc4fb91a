-- What a table costs to read whole: as loaded, with every second row deleted, rebuilt; and how large it is each time.
-- Runs once: it changes the table.

-- name: count as loaded
SELECT COUNT(pad) FROM sbtest1;
-- name: again as loaded
SELECT COUNT(pad) FROM sbtest1;
-- prepare: statistics as loaded
-- since: mysql 5.0, mariadb 5.0
ANALYZE TABLE sbtest1;
-- show: as loaded
-- since: mysql 5.0, mariadb 5.0
SELECT (SELECT COUNT(*) FROM sbtest1) AS row_count, table_rows, data_length, index_length, data_free FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'sbtest1';
-- show: as loaded
-- since: postgresql 9.0
SELECT COUNT(*) AS row_count, pg_table_size('sbtest1') AS data_length, pg_indexes_size('sbtest1') AS index_length FROM sbtest1;
-- show: indexes as loaded
-- since: mysql 5.6, mariadb 10.0
SELECT index_name, stat_name, stat_value FROM mysql.innodb_index_stats
WHERE database_name = DATABASE() AND table_name = 'sbtest1'
ORDER BY index_name, stat_name;

-- prepare: procedure
-- since: mysql 5.0, mariadb 5.0
CREATE PROCEDURE make_gaps(IN place INT, IN most INT)
BEGIN
  WHILE place < most DO
    DELETE FROM sbtest1 WHERE id = place;
    SET place = place + 2;
  END WHILE;
END
;
-- prepare: procedure
-- since: postgresql 11
CREATE PROCEDURE make_gaps() LANGUAGE plpgsql AS $$
  DECLARE
    place INT := 1;
    most INT := (SELECT MAX(id) FROM sbtest1);
  BEGIN
    WHILE place < most LOOP
      DELETE FROM sbtest1 WHERE id = place;
      COMMIT;
      place := place + 2;
    END LOOP;
  END $$;
-- prepare: last row
-- since: mysql 5.0, mariadb 5.0
SET @last = (SELECT MAX(id) FROM sbtest1);
-- name: delete every second row
-- since: mysql 5.0, mariadb 5.0
CALL make_gaps(1, @last);
-- name: delete every second row
-- since: postgresql 9.0
DELETE FROM sbtest1 WHERE MOD(id, 2) = 1;
-- name: delete every second row
-- since: postgresql 11
CALL make_gaps();

-- name: count with gaps
-- against: count as loaded
SELECT COUNT(pad) FROM sbtest1;
-- name: again with gaps
-- against: again as loaded
SELECT COUNT(pad) FROM sbtest1;
-- prepare: statistics with gaps
-- since: mysql 5.0, mariadb 5.0
ANALYZE TABLE sbtest1;
-- show: with gaps
-- since: mysql 5.0, mariadb 5.0
SELECT (SELECT COUNT(*) FROM sbtest1) AS row_count, table_rows, data_length, index_length, data_free FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'sbtest1';
-- show: with gaps
-- since: postgresql 9.0
SELECT COUNT(*) AS row_count, pg_table_size('sbtest1') AS data_length, pg_indexes_size('sbtest1') AS index_length FROM sbtest1;
-- show: indexes with gaps
-- since: mysql 5.6, mariadb 10.0
SELECT index_name, stat_name, stat_value FROM mysql.innodb_index_stats
WHERE database_name = DATABASE() AND table_name = 'sbtest1'
ORDER BY index_name, stat_name;

-- name: rebuild
-- since: mysql 5.0, mariadb 5.0
ALTER TABLE sbtest1 ENGINE=InnoDB;
-- name: rebuild
-- since: postgresql 9.0
VACUUM FULL sbtest1;

-- name: count rebuilt
-- against: count as loaded
SELECT COUNT(pad) FROM sbtest1;
-- name: again rebuilt
-- against: again as loaded
SELECT COUNT(pad) FROM sbtest1;
-- prepare: statistics rebuilt
-- since: mysql 5.0, mariadb 5.0
ANALYZE TABLE sbtest1;
-- show: rebuilt
-- since: mysql 5.0, mariadb 5.0
SELECT (SELECT COUNT(*) FROM sbtest1) AS row_count, table_rows, data_length, index_length, data_free FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'sbtest1';
-- show: rebuilt
-- since: postgresql 9.0
SELECT COUNT(*) AS row_count, pg_table_size('sbtest1') AS data_length, pg_indexes_size('sbtest1') AS index_length FROM sbtest1;
-- show: indexes rebuilt
-- since: mysql 5.6, mariadb 10.0
SELECT index_name, stat_name, stat_value FROM mysql.innodb_index_stats
WHERE database_name = DATABASE() AND table_name = 'sbtest1'
ORDER BY index_name, stat_name;
