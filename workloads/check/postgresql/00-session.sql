-- Both connections agree on everything an answer can depend on. Sums in parallel are asked for in a topic of their own.
-- topic: session
CREATE SCHEMA answers;
SET search_path TO answers;
SET TIME ZONE 'UTC';
SET DateStyle TO 'ISO, YMD';
SET IntervalStyle TO 'iso_8601';
SET extra_float_digits TO 1;
SET max_parallel_workers_per_gather TO 0;
-- on: second
SET search_path TO answers;
-- on: second
SET TIME ZONE 'UTC';
-- on: second
SET max_parallel_workers_per_gather TO 0;
