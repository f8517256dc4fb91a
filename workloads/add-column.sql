-- What it takes to add a column to a filled table: as the server does it when left alone, and the ways it can be told.
-- Each column goes to a table that was not changed before. Runs once: it changes the tables.

-- name: add by copy
-- since: mysql 5.5
ALTER TABLE sbtest1 ADD COLUMN added INT DEFAULT 7 NOT NULL;
-- name: add by copy
-- since: mysql 5.6, mariadb 10.0
ALTER TABLE sbtest1 ADD COLUMN added INT DEFAULT 7 NOT NULL, ALGORITHM=COPY;

-- name: add in place
-- since: mysql 5.6, mariadb 10.0
-- against: add by copy
ALTER TABLE sbtest2 ADD COLUMN added INT DEFAULT 7 NOT NULL, ALGORITHM=INPLACE, LOCK=NONE;

-- name: add instantly
-- since: mysql 8.0.12, mariadb 10.3.2
-- against: add by copy
ALTER TABLE sbtest3 ADD COLUMN added INT DEFAULT 7 NOT NULL, ALGORITHM=INSTANT;

-- name: add with default
ALTER TABLE sbtest4 ADD COLUMN added INT DEFAULT 7 NOT NULL;
-- name: add without default
-- against: add with default
ALTER TABLE sbtest5 ADD COLUMN added INT;

-- name: read what was added
SELECT COUNT(*), SUM(added) FROM sbtest4;
