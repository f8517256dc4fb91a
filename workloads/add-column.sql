-- What it takes to add a column to a filled table: as the server does it when left alone, and the ways it can be told.
-- Each column goes to a table that was not changed before. Runs once: it changes the tables.

-- name: add by copy
-- since: mysql 5.5
ALTER TABLE sbtest1 ADD COLUMN added CHAR(255) DEFAULT 'zyxwvutsrqponmlkjihgfedcba';
-- name: add by copy
-- since: mysql 5.6, mariadb 10.0
ALTER TABLE sbtest1 ADD COLUMN added CHAR(255) DEFAULT 'zyxwvutsrqponmlkjihgfedcba', ALGORITHM=COPY;

-- name: add in place
-- since: mysql 5.6, mariadb 10.0
-- against: add by copy
ALTER TABLE sbtest2 ADD COLUMN added CHAR(255) DEFAULT 'zyxwvutsrqponmlkjihgfedcba', ALGORITHM=INPLACE, LOCK=NONE;

-- name: add instantly
-- since: mysql 8.0.12, mariadb 10.3.2
-- against: add by copy
ALTER TABLE sbtest3 ADD COLUMN added CHAR(255) DEFAULT 'zyxwvutsrqponmlkjihgfedcba', ALGORITHM=INSTANT;

-- name: add with default
ALTER TABLE sbtest4 ADD COLUMN added CHAR(255) DEFAULT 'zyxwvutsrqponmlkjihgfedcba';
-- name: add without default
-- against: add with default
ALTER TABLE sbtest5 ADD COLUMN added CHAR(255);

-- name: read what was added
SELECT COUNT(*), COUNT(DISTINCT added), COUNT(added) FROM sbtest4;
-- name: write what was added
UPDATE sbtest5 SET added = '123' WHERE id = 1;
