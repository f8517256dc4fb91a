-- The tables `page` and `revision` as MediaWiki 1.2x defines them, filled by arithmetic alone: every load of the same
-- sizes holds the same rows, on any server. Two connections fill them at the same time; indexes come after the rows.

sysbench.cmdline.options = {
   pages = {"Rows of table page", 10000},
   revisions = {"Rows of table revision", 10000},
   users = {"Names of authors", 60000},
   anonymous = {"Percent of revisions without an author", 45}
}

local MODULUS = 2147483647
local TYPES = {
   mysql = {int = "INT UNSIGNED", short = "TINYINT UNSIGNED", text = "VARCHAR(255) CHARACTER SET utf8 COLLATE utf8_bin",
            blob = "TINYBLOB", count = "BIGINT UNSIGNED", space = "INT", hash = "VARBINARY(32)", stamp = "BINARY(14)",
            real = "DOUBLE", ending = "ENGINE=InnoDB"},
   pgsql = {int = "INTEGER", short = "SMALLINT", text = "VARCHAR(255)", blob = "VARCHAR(255)",
            count = "BIGINT", space = "INTEGER", hash = "VARCHAR(32)", stamp = "CHAR(14)",
            real = "DOUBLE PRECISION", ending = ""}
}
local WORDS = {"river", "castle", "music", "theory", "village", "station", "history", "comet", "painter", "bridge",
               "league", "garden", "battle", "island", "language", "church", "railway", "novel", "museum", "valley"}

-- A number in [0, 1) that looks random and depends on a row and a purpose only: three steps of the generator of
-- Lehmer with the multipliers of Park and Miller (1988), all products below 2^53.
local function chance(row, purpose)
   local x = (row * 48271 + purpose * 69621 + 1) % MODULUS
   x = x * 16807 % MODULUS
   x = x * 16807 % MODULUS
   return x / MODULUS
end

local function pick(row, purpose, count)
   return math.floor(chance(row, purpose) * count)
end

local function stamp(row, purpose)
   return string.format("%04d%02d%02d%02d%02d%02d", 2001 + pick(row, purpose, 12), 1 + pick(row, purpose + 1, 12),
                        1 + pick(row, purpose + 2, 28), pick(row, purpose + 3, 24), pick(row, purpose + 4, 60),
                        pick(row, purpose + 5, 60))
end

local function words(row, purpose, count)
   local found = {}
   for place = 1, count do
      found[place] = WORDS[1 + pick(row, purpose + place, #WORDS)]
   end
   return table.concat(found, "_")
end

-- A stride through all pages and its inverse: neighbouring revisions belong to pages far apart.
local function stride(count)
   local step = math.max(1, math.floor(count * 0.618))
   while true do
      local r0, r1, t0, t1 = count, step % count, 0, 1
      while r1 > 0 do
         local quotient = math.floor(r0 / r1)
         r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
      end
      if r0 == 1 then
         return step, t0 % count
      end
      step = step + 1
   end
end

local function fill(con, head, rows, values)
   con:bulk_insert_init(head)
   for row = 1, rows do
      con:bulk_insert_next(values(row))
   end
   con:bulk_insert_done()
end

local function page(con, types)
   local pages, revisions = sysbench.opt.pages, sysbench.opt.revisions
   local _, back = stride(pages)
   con:query(string.format([[
      CREATE TABLE page (
         page_id %s NOT NULL PRIMARY KEY, page_namespace %s NOT NULL, page_title %s NOT NULL,
         page_restrictions %s NOT NULL, page_counter %s NOT NULL, page_is_redirect %s NOT NULL,
         page_is_new %s NOT NULL, page_random %s NOT NULL, page_touched %s NOT NULL, page_latest %s NOT NULL,
         page_len %s NOT NULL) %s]],
      types.int, types.space, types.text, types.blob, types.count, types.short, types.short, types.real, types.stamp,
      types.int, types.int, types.ending))
   fill(con, "INSERT INTO page VALUES ", pages, function(row)
      local namespace = math.max(0, pick(row, 1, 24) - 9)
      local latest = (row - 1) * back % pages + 1
      return string.format("(%d, %d, '%s_%d', '', %d, %d, %d, %.6f, '%s', %d, %d)", row, namespace,
                           words(row, 10, 2), row, pick(row, 2, 5000), pick(row, 3, 10) == 0 and 1 or 0,
                           pick(row, 4, 5) == 0 and 1 or 0, chance(row, 5), stamp(row, 20),
                           latest <= revisions and latest or 0, math.floor(100000 * chance(row, 6) ^ 4))
   end)
   con:query("CREATE UNIQUE INDEX name_title ON page (page_namespace, page_title)")
   con:query("CREATE INDEX page_random ON page (page_random)")
   con:query("CREATE INDEX page_len ON page (page_len)")
   con:query("CREATE INDEX page_redirect_namespace_len ON page (page_is_redirect, page_namespace, page_len)")
end

local function revision(con, types)
   local pages, revisions = sysbench.opt.pages, sysbench.opt.revisions
   local step = stride(pages)
   con:query(string.format([[
      CREATE TABLE revision (
         rev_id %s NOT NULL PRIMARY KEY, rev_page %s NOT NULL, rev_text_id %s NOT NULL, rev_comment %s NOT NULL,
         rev_user %s NOT NULL, rev_user_text %s NOT NULL, rev_timestamp %s NOT NULL, rev_minor_edit %s NOT NULL,
         rev_deleted %s NOT NULL, rev_len %s, rev_parent_id %s, rev_sha1 %s NOT NULL) %s]],
      types.int, types.int, types.int, types.blob, types.int, types.text, types.stamp, types.short, types.short,
      types.int, types.int, types.hash, types.ending))
   fill(con, "INSERT INTO revision VALUES ", revisions, function(row)
      local first = row <= pages
      -- Every page has a revision before any has two; then a quarter of the pages gets half of the others.
      local owner = first and (row - 1) * step % pages + 1 or 1 + math.floor(pages * chance(row, 31) ^ 2)
      local named = pick(row, 37, 100) >= sysbench.opt.anonymous
      local user = named and 1 + math.floor(sysbench.opt.users * chance(row, 32) ^ 3) or 0
      return string.format("(%d, %d, %d, '%s', %d, 'user_%d', '%s', %d, 0, %d, %d, '%031d')", row, owner, row,
                           words(row, 40, 1 + pick(row, 33, 6)), user, user, stamp(row, 60),
                           pick(row, 34, 3) == 0 and 1 or 0, math.floor(100000 * chance(row, 35) ^ 4),
                           first and 0 or pick(row, 36, row), pick(row, 38, MODULUS))
   end)
   con:query("CREATE UNIQUE INDEX rev_page_id ON revision (rev_page, rev_id)")
   con:query("CREATE INDEX rev_timestamp ON revision (rev_timestamp)")
   con:query("CREATE INDEX page_timestamp ON revision (rev_page, rev_timestamp)")
   con:query("CREATE INDEX user_timestamp ON revision (rev_user, rev_timestamp)")
   con:query("CREATE INDEX page_user_timestamp ON revision (rev_page, rev_user, rev_timestamp)")
   con:query("CREATE INDEX usertext_timestamp ON revision (rev_user_text, rev_timestamp)")
end

local function prepare()
   local drv = sysbench.sql.driver()
   local con, types = drv:connect(), TYPES[drv:name()]
   local parts = {page, revision}
   for place = sysbench.tid % sysbench.opt.threads + 1, #parts, sysbench.opt.threads do
      parts[place](con, types)
   end
end

sysbench.cmdline.commands = {
   prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND}
}
