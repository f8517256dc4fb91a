-- Both connections agree on everything an answer can depend on.
-- topic: session
CREATE DATABASE answers CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
USE answers;
SET NAMES utf8mb4;
SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY';
SET time_zone = '+00:00';
SET timestamp = 1000000000;
-- on: second
USE answers;
-- on: second
SET NAMES utf8mb4;
-- on: second
SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY';
-- on: second
SET time_zone = '+00:00';
