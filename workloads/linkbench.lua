-- LinkBench's load on a social graph, for sysbench 1.0 and 1.1 with its mysql and pgsql drivers.
--
-- Nodes, links between them and the number of visible links of each node and type, read and written by ten operations.
-- Tables, statements, mix, distributions, places of hot ids and payloads are those of LinkBench with its
-- LinkStoreMysql (README, config/FBWorkload.properties and config/Distribution.dat, source of its last state; Armstrong
-- et al., SIGMOD 2013). An event is one operation; where the server rolls it back, it is sent again. At the end counts
-- and links are compared; a count that is off is an error.
--
-- `sysbench linkbench.lua help` lists the options. Where LinkBench's program does otherwise than its properties or
-- comments say, this does what the program does, because all that is published was measured with it:
--   * Links are written where they are read: 99.5 % uncorrelated with Zipf 0.8 (properties: 95 % with Zipf 0.741), the
--     others with Zipf 0.741.
--   * A getlink asks for 2 to 127 links, one more than a geometric number. The motif has 512 bytes, not 128.
--   * Types of links share a node's links with one too many each, some 7 % more in total.
--   * Most lists that were read to their end are never remembered again.
-- Departures:
--   * Links per node are those of Distribution.dat within 1 % or one link: 88 of its 19951 figures, and lines between
--     them. The node with most has 961963; in graphs of under ten million ids no node has more than a tenth of the ids.
--   * Zipf's sum is exact; LinkBench's approximation is off by 0.02 %. Random numbers are LuaJIT's.
--   * The graph is loaded with times that end in 2011, so that every server gets the same rows; all threads load nodes.
--   * Where sysbench's process does not show the client library's functions, COMMIT is a packet of its own, and
--     SELECT ROW_COUNT() asks how many rows an INSERT changed. The last line of a run says which it was.
--   * PostgreSQL, which LinkBench does not know: payloads are bytea, sent in hexadecimal; BEGIN rides with the first
--     statement, COMMIT where it does for MySQL; ON CONFLICT ... RETURNING says what became of a link; no partitions.

local ffi, bit = require("ffi"), require("bit")
ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } linkbench_time;
int linkbench_clock(int clock, linkbench_time *now) __asm__("clock_gettime");
int usleep(unsigned int microseconds);
void *calloc(size_t count, size_t size);
int setenv(const char *name, const char *value, int overwrite);
unsigned long mysql_thread_id(void *mysql);
unsigned long long mysql_affected_rows(void *mysql);
int mysql_set_server_option(void *mysql, int option);
int mysql_next_result(void *mysql);
unsigned int mysql_errno(void *mysql);
const char *mysql_error(void *mysql);
]]

sysbench.cmdline.options = {
  ids = {"Nodes to load, about 1 KB each with their links", 10000},
  link_types = {"Types of links", 2},
  max_links = {"Most links of a node, 0 for a tenth of the ids, at most LinkBench's 961963", 0},
  range_limit = {"Most links that one list returns", 10000},
  history = {"Per cent of lists that ask for what an earlier, full list left out", 0.3},
  check_ids = {"Nodes whose counts are checked at the end, evenly spread", 100000},
  partitions = {"Partitions of the links by node, 0 for none (MySQL and MariaDB)", 16},
  mysql_storage_engine = {"Storage engine (MySQL and MariaDB)", "innodb"},
  create_table_options = {"Further options of all three tables", ""},
}

-- Per cent of all operations.
local MIX = {
  {"addlink", 8.9886601}, {"deletelink", 2.9907664}, {"updatelink", 8.0122125}, {"countlink", 4.8863567},
  {"getlink", 0.5261142}, {"getlinklist", 50.7119145}, {"getnode", 12.9326683}, {"addnode", 2.5732789},
  {"updatenode", 7.366437}, {"deletenode", 1.0115914},
}
-- Links, and the per cent of nodes that have at most so many; between 20 and 195286 the file has more of them.
local LINKS = {
  0, 45.33160573, 1, 77.46259112, 2, 86.95805953, 3, 91.99305428, 4, 94.4507991, 5, 95.82807169, 6, 96.72252805,
  7, 97.32008855, 8, 97.76142319, 9, 98.07767693, 10, 98.32803368, 11, 98.53703922, 12, 98.70025671,
  13, 98.82537746, 14, 98.93357097, 15, 99.02687903, 16, 99.10803256, 17, 99.17988071, 18, 99.23667679,
  19, 99.2832732, 20, 99.3269556, 30, 99.55693901, 51, 99.72595948, 76, 99.79823271, 117, 99.84630752,
  217, 99.88982924, 577, 99.93267399, 977, 99.94993906, 1560, 99.96310772, 2295, 99.97265808, 3568, 99.98190519,
  5351, 99.98840457, 7769, 99.99282299, 11567, 99.99606428, 18924, 99.99837145, 29173, 99.99934772,
  36584, 99.99960521, 49301, 99.99980837, 55897, 99.99985479, 63796, 99.99989529, 74100, 99.99992789,
  90193, 99.99995456, 95747, 99.9999595, 104867, 99.99996576, 107182, 99.99996641, 115146, 99.99997102,
  123719, 99.99997563, 124055, 99.99997629, 127774, 99.99997662, 139698, 99.99997959, 150078, 99.99998222,
  155990, 99.99998255, 159914, 99.99998452, 170429, 99.99998518, 181876, 99.99998716, 187627, 99.99998946,
  195286, 99.99998979, 196788, 99.99999012, 198095, 99.99999045, 201568, 99.99999078, 202547, 99.99999111,
  202698, 99.99999144, 204366, 99.99999177, 209452, 99.9999921, 213274, 99.99999243, 214380, 99.99999276,
  225967, 99.99999309, 230926, 99.99999341, 235153, 99.99999374, 236508, 99.99999407, 240414, 99.9999944,
  242781, 99.99999473, 243667, 99.99999506, 248486, 99.99999539, 272454, 99.99999572, 278496, 99.99999605,
  281116, 99.99999638, 292270, 99.99999671, 295372, 99.99999704, 297564, 99.99999737, 313962, 99.9999977,
  315801, 99.99999802, 407190, 99.99999835, 423083, 99.99999868, 450999, 99.99999901, 485372, 99.99999934,
  906857, 99.99999967, 961963, 100,
}
local EXACT, SPARSE = 20, 195286
local LINK_TYPE, NODE_TYPE = 123456789, 2048
local VISIBLE, HIDDEN = 1, 0
-- The chance that the link an operation names was loaded.
local EXISTS = {addlink = 0.05, updatelink = 0.9, deletelink = 0.9, getlink = 0.5}
-- LinkBench's seeds of the three orders of ids: by links, of accesses that do not follow the links, of nodes.
local SEEDS = {links = 20343988438726021ULL, apart = 53238253823453ULL, nodes = 4766565305853767165ULL}
local GROUPS = 1024
local LOADED_MS, LOADED_SPAN_MS, LATEST = 1300000000000, 2 ^ 32, "9223372036854775807"
-- Lists whose end is remembered, by each client; nodes whose links are loaded before their counts are.
local KEPT, CHUNK = 2048, 2048
-- Median and longest payload, share of it that is drawn anew, and the bytes it is drawn from.
local LINK_DATA = {median = 8, longest = 254, fresh = 0.225, first = 32, last = 100}
local NODE_DATA = {median = 128, longest = 1048575, fresh = 0.63, first = 50, last = 220}
local PIECE, MOTIF = 128, 512
-- Latency in buckets of 5 %, in µs; then the sum and the longest.
local BUCKETS, STEP = 400, math.log(1.05)
local WIDTH, TALLY = BUCKETS + 2, "LINKBENCH_TALLY"

-- sysbench reads its options after this file.
local opt = setmetatable({}, {__index = function(_, name) return sysbench.opt[name] end})
local driver, con, reader, graph, dialect
local random, floor = math.random, math.floor

-- Distributions

-- Returns a function that draws java.util.Random's numbers from 0 to a bound - 1. Its 48 bits are kept in two halves:
-- LuaJIT 2.1.0-beta3 compiles loops over 64-bit integers into wrong ones.
local function java_random(seed)
  local half, start = 2 ^ 24, bit.bxor(seed, 0x5DEECE66DULL)
  local low, high = tonumber(bit.band(start, 0xFFFFFFULL)), tonumber(bit.band(bit.rshift(start, 24), 0xFFFFFFULL))
  local function next31()
    local product = low * 0xECE66D + 11
    low, high = product % half, (low * 0x5DE + high * 0xECE66D + floor(product / half)) % half
    return floor((high * half + low) / 2 ^ 17)
  end
  return function(bound)
    if bit.band(bound, bound - 1) == 0 then return floor(bound * next31() / 2 ^ 31) end
    while true do
      local drawn = next31()
      if drawn - drawn % bound + bound - 1 < 2 ^ 31 then return drawn % bound end
    end
  end
end

-- An order of n ids: every 1024th rank is of one group, and a group is turned by as much as the seed says.
local function shuffled(n, seed)
  local groups = math.min(GROUPS, n)
  local order = {groups = groups, least = floor(n / groups), larger = n % groups, turn = ffi.new("double[?]", groups)}
  local below = java_random(seed)
  for group = 0, groups - 1 do order.turn[group] = below(order.least) end
  return order
end

-- Returns the place of a rank, with a sign of -1 the rank of a place; both are 0 to n - 1.
local function turned(order, place, sign)
  local groups = order.groups
  local group = place % groups
  local size = group < order.larger and order.least + 1 or order.least
  return group + groups * (((place - group) / groups + sign * order.turn[group]) % size)
end

-- Returns 1 + 2 ^ -s + ... + n ^ -s.
local function harmonic(n, s)
  local sum, summed = 0, math.min(n, 1000)
  for k = 1, summed do sum = sum + k ^ -s end
  return sum + (n ^ (1 - s) - summed ^ (1 - s)) / (1 - s) + (n ^ -s - summed ^ -s) / 2
end

-- Ranks 0 to n - 1 with P(k) ~ (k + 1) ^ -s, s not 1.
local function zipf(n, s)
  local all = harmonic(n, s)
  return {n = n, all = all, two = 1 + 0.5 ^ s, power = 1 / (1 - s),
    slope = (1 - (2 / n) ^ (1 - s)) / (1 - harmonic(2, s) / all)}
end

-- Draws a rank as Gray et al. do.
local function ranked(zipf)
  local share = random()
  if share * zipf.all < 1 then return 0 end
  if share * zipf.all < zipf.two then return 1 end
  return math.min(zipf.n - 1, floor(zipf.n * (zipf.slope * share - zipf.slope + 1) ^ zipf.power))
end

-- Returns how many links a getlink asks for.
local function asked_at_once()
  return math.min(127, 1 + math.max(1, math.ceil(math.log(1 - random()) / math.log(1 - 0.382))))
end

local buffer = ffi.new("uint8_t[?]", NODE_DATA.longest)

-- A kind of payload with a motif of its own.
local function payloads(kind)
  local motif = ffi.new("uint8_t[?]", MOTIF)
  for place = 0, MOTIF - 1 do motif[place] = random(kind.first, kind.last) end
  return {kind = kind, motif = motif}
end

-- Draws a payload: length log-normal with sigma 1, pieces drawn anew or out of the motif.
local function payload(of)
  local kind, motif = of.kind, of.motif
  local normal = math.sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random())
  local length = math.min(kind.longest, floor(kind.median * math.exp(normal) + 0.5))
  for start = 0, length - 1, PIECE do
    local size = math.min(PIECE, length - start)
    if random() < kind.fresh then
      for place = start, start + size - 1 do buffer[place] = random(kind.first, kind.last) end
    else
      ffi.copy(buffer + start, motif + random(0, MOTIF - size), size)
    end
  end
  return ffi.string(buffer, length)
end

-- Returns how many links the node of a rank has of n nodes, rank 0 having most.
local function links_at(rank, n)
  local share = 100 * (1 - rank / n)
  local low, high = 1, #LINKS / 2
  while low < high do
    local middle = floor((low + high) / 2)
    if LINKS[2 * middle] >= share then high = middle else low = middle + 1 end
  end
  local links = LINKS[2 * low - 1]
  if links <= EXACT or links > SPARSE then return links end
  local before, above, here = LINKS[2 * low - 3], 100 - LINKS[2 * low - 2], 100 - LINKS[2 * low]
  return math.ceil(before * (links / before) ^ (math.log((100 - share) / above) / math.log(here / above)))
end

-- Returns what is known of the loaded graph without asking: its links, and who is read and written how often.
local function new_graph()
  local n, types = opt.ids, opt.link_types
  local most = opt.max_links > 0 and opt.max_links or math.ceil(n / 10)
  local linked, apart, node = shuffled(n, SEEDS.links), shuffled(n, SEEDS.apart), shuffled(n, SEEDS.nodes)
  local read, written, node_read, node_updated = zipf(n, 0.8), zipf(n, 0.741), zipf(n, 0.625), zipf(n, 0.606)
  local function id(order, distribution) return 1 + turned(order, ranked(distribution), 1) end
  local function blended(distribution)
    if random() < 0.995 then return id(apart, read) end
    return id(linked, distribution)
  end
  local self = {
    link_read = function() return blended(read) end,
    link_write = function() return blended(written) end,
    node_read = function() return id(node, node_read) end,
    node_update = function() return id(node, node_updated) end,
    node_delete = function() return random(n) end,
  }
  function self.links(id1, kind)
    local all = math.min(most, links_at(turned(linked, id1 - 1, -1), n))
    local least = floor(all / types)
    return least + (kind < all - least and 1 or 0)
  end
  -- Loaded links of a node and type lead to id1, id1 + 1, ...; so a range a little longer holds others too.
  local function range(id1, kind, exists) return math.max(1, math.ceil(self.links(id1, kind) / exists)) end
  function self.other_end(id1, kind, exists) return id1 + random(0, range(id1, kind, exists) - 1) end
  function self.other_ends(id1, kind, exists, many)
    local all, found, seen = range(id1, kind, exists), {}, {}
    for place = 1, many do
      local tried, one = 0, nil
      repeat
        one, tried = all <= many and place - 1 or random(0, all - 1), tried + 1
      until not seen[one] or tried > 100
      found[place], seen[one] = id1 + one, true
    end
    return found
  end
  return self
end

-- Statements

local function sql(text, ...) return con:query(text:format(...)) end

local LINK = "id1 = %.0f AND id2 = %.0f AND link_type = %d"
local LOCKED = "SELECT visibility FROM linktable WHERE " .. LINK .. " FOR UPDATE"
local LISTED = "SELECT id1, id2, link_type, visibility, data, time, version FROM linktable "
local PUT_LINK = "INSERT INTO linktable (id1, id2, link_type, visibility, data, time, version) " ..
  "VALUES (%.0f, %.0f, %d, 1, %s, %.0f, 0) "
local PUT_COUNT = "INSERT INTO counttable (id, link_type, count, time, version) VALUES (%.0f, %d, %d, %.0f, 0) "

-- The client library's handle of a connection: sysbench keeps it behind the fields that it declares. Nil where those
-- are others, or where the library's functions cannot be called.
local function handle_of(connection)
  if not pcall(function() return ffi.C.mysql_next_result, ffi.C.mysql_thread_id end) then return nil end
  local known, place = pcall(ffi.offsetof, "sql_connection", "opaque")
  if not known or type(connection) ~= "cdata" or connection.driver ~= driver then return nil end
  local own = ffi.cast("void ***", ffi.cast("char *", connection) + place)[0]
  if own == nil or own[0] == nil then return nil end
  local number = tonumber(connection:query_row("SELECT CONNECTION_ID()"))
  return number == tonumber(ffi.C.mysql_thread_id(own[0])) and own[0] or nil
end

local MYSQL = {
  forced = "FORCE INDEX (id1_type) ",
  number = "bigint unsigned NOT NULL DEFAULT 0",
  whole = "int unsigned NOT NULL DEFAULT 0",
  small = "tinyint NOT NULL DEFAULT 0",
  identity = "bigint unsigned NOT NULL AUTO_INCREMENT",
  short = "varchar(255) NOT NULL DEFAULT ''",
  text = "mediumtext NOT NULL",
  index = ", KEY id1_type (id1, link_type, visibility, time, id2, version, data)",
  begin = "",
  -- What becomes of the count of a node that has one.
  count = "ON DUPLICATE KEY UPDATE count = %s, time = %.0f, version = version + 1",
  more = "count + 1",
  less = "IF(count = 0, 0, count - 1)",
}

function MYSQL.options(partitioned)
  local text = "ENGINE = %s DEFAULT CHARSET = latin1 " .. opt.create_table_options
  local parts = opt.partitions > 0 and partitioned and " PARTITION BY KEY (id1) PARTITIONS " .. opt.partitions or ""
  return text:format(opt.mysql_storage_engine) .. parts
end

-- Bytes go to the server as they are.
function MYSQL.opened(connection) connection:query("SET NAMES latin1") end

function MYSQL.literal(data) return "'" .. data:gsub("['\\]", "\\%0") .. "'" end

-- Transactions of `con` begin by themselves from now on; returns whether COMMIT can ride with their last statement.
function MYSQL.transactions()
  con:query("SET autocommit = 0")
  MYSQL.handle = handle_of(con)
  if MYSQL.handle and ffi.C.mysql_set_server_option(MYSQL.handle, 0) ~= 0 then MYSQL.handle = nil end
  return MYSQL.handle ~= nil
end

-- The rest of what a packet of several statements answers; sysbench knows of the first answer only.
local function drain(handle)
  local left
  repeat left = ffi.C.mysql_next_result(handle) until left ~= 0
  if left > 0 then
    local number, text = ffi.C.mysql_errno(handle), ffi.string(ffi.C.mysql_error(handle))
    if number == 1213 or number == 1205 then error({errcode = sysbench.error.RESTART_EVENT}, 0) end
    error(("linkbench: COMMIT failed, errno = %d: %s"):format(number, text), 0)
  end
end

-- Sends a transaction's last statement, and its COMMIT in the same packet.
function MYSQL.last(text, ...)
  if not MYSQL.handle then
    sql(text, ...)
    return con:query("COMMIT")
  end
  sql(text .. "; COMMIT", ...)
  drain(MYSQL.handle)
end

MYSQL.only = MYSQL.last

-- Makes a link visible; returns whether it was added, and whether it was there and visible.
function MYSQL.show(id1, id2, kind, data, now)
  sql(PUT_LINK .. "ON DUPLICATE KEY UPDATE visibility = VALUES(visibility)", id1, id2, kind, data, now)
  local changed = MYSQL.handle and tonumber(ffi.C.mysql_affected_rows(MYSQL.handle))
    or tonumber(con:query_row("SELECT ROW_COUNT()"))
  return changed == 1, changed == 0
end

local POSTGRESQL = {
  forced = "",
  number = "bigint NOT NULL DEFAULT 0",
  whole = "int NOT NULL DEFAULT 0",
  small = "smallint NOT NULL DEFAULT 0",
  identity = "bigserial NOT NULL",
  short = "bytea NOT NULL DEFAULT ''",
  text = "bytea NOT NULL",
  index = "",
  separate = "CREATE INDEX id1_type ON linktable (id1, link_type, visibility, time, id2, version, data)",
  begin = "BEGIN; ",
  count = "ON CONFLICT (id, link_type) DO UPDATE SET count = %s, time = %.0f, version = counttable.version + 1",
  more = "counttable.count + 1",
  less = "GREATEST(counttable.count - 1, 0)",
}
local HEXADECIMAL = {}
for byte = 0, 255 do HEXADECIMAL[string.char(byte)] = ("%02x"):format(byte) end

function POSTGRESQL.options() return opt.create_table_options end
function POSTGRESQL.opened() end
function POSTGRESQL.transactions() return true end
function POSTGRESQL.literal(data) return "'\\x" .. data:gsub(".", HEXADECIMAL) .. "'" end
function POSTGRESQL.last(text, ...) sql(text .. "; COMMIT", ...) end
-- A statement without BEGIN is a transaction.
function POSTGRESQL.only(text, ...) sql(text, ...) end

function POSTGRESQL.show(id1, id2, kind, data, now)
  -- A link that is visible already is locked, and no row comes back.
  local shown = sql("BEGIN; " .. PUT_LINK .. "ON CONFLICT (link_type, id1, id2) DO UPDATE SET visibility = 1 " ..
    "WHERE linktable.visibility <> 1 RETURNING CASE WHEN xmax = 0 THEN 1 ELSE 0 END", id1, id2, kind, data, now)
  if shown.nrows == 0 then return false, true end
  return shown:fetch_row()[1] == "1", false
end

local function connect()
  driver = sysbench.sql.driver()
  dialect = driver:name() == "pgsql" and POSTGRESQL or MYSQL
  con = driver:connect()
  dialect.opened(con)
end

-- Operations. Each draws what it is about, and returns the function that sends it.

local OPERATIONS = {}
local clock = ffi.new("linkbench_time")

local function now_us(which)
  ffi.C.linkbench_clock(which or 1, clock)
  return tonumber(clock.seconds) * 1e6 + tonumber(clock.nanoseconds) / 1e3
end

local function now_ms() return floor(now_us(0) / 1e3) end
local function any_type() return random(0, opt.link_types - 1) end

local function link_written(operation)
  local id1, nth = graph.link_write(), any_type()
  return id1, graph.other_end(id1, nth, EXISTS[operation]), LINK_TYPE + nth
end

local function put_link(operation)
  local id1, id2, kind = link_written(operation)
  local data, now = dialect.literal(payload(graph[operation])), now_ms()
  return function()
    local added, visible = dialect.show(id1, id2, kind, data, now)
    if not visible then
      local send = added and dialect.last or sql
      send(PUT_COUNT .. dialect.count, id1, kind, 1, now_ms(), dialect.more, now_ms())
    end
    if not added then
      dialect.last("UPDATE linktable SET visibility = 1, data = %s, time = %.0f, version = 0 WHERE " .. LINK,
        data, now, id1, id2, kind)
    end
  end
end

OPERATIONS.addlink, OPERATIONS.updatelink = put_link, put_link

function OPERATIONS.deletelink(operation)
  local id1, id2, kind = link_written(operation)
  return function()
    if con:query_row((dialect.begin .. LOCKED):format(id1, id2, kind)) == tostring(VISIBLE) then
      sql("UPDATE linktable SET visibility = %d WHERE " .. LINK, HIDDEN, id1, id2, kind)
      sql(PUT_COUNT .. dialect.count, id1, kind, 0, now_ms(), dialect.less, now_ms())
    end
    con:query("COMMIT")
  end
end

local function read(text, ...)
  local statement = text:format(...)
  return function() return reader:query(statement) end
end

function OPERATIONS.countlink()
  return read("SELECT count FROM counttable WHERE id = %.0f AND link_type = %d", graph.link_read(),
    LINK_TYPE + any_type())
end

function OPERATIONS.getlink(operation)
  local id1, nth = graph.link_read(), any_type()
  local wanted = graph.other_ends(id1, nth, EXISTS[operation], asked_at_once())
  for place, id2 in ipairs(wanted) do wanted[place] = ("%.0f"):format(id2) end
  return read(LISTED .. "WHERE id1 = %.0f AND link_type = %d AND id2 IN (%s)", id1, LINK_TYPE + nth,
    table.concat(wanted, ","))
end

-- Lists that returned as many links as one may: where they ended, so that a later one asks for what came before. One
-- that leaves from another place than the last stays known, and is not remembered again, as in LinkBench.
local tails, known = {}, {}

local function forget(place)
  if place == #tails then known[tails[place].name] = nil end
  tails[place] = tails[#tails]
  tails[#tails] = nil
end

local function remember(tail)
  if known[tail.name] then return end
  if #tails == KEPT then forget(random(KEPT)) end
  tails[#tails + 1], known[tail.name] = tail, true
end

local function oldest(found)
  local time
  for _ = 1, found.nrows do time = found:fetch_row()[6] end
  return time
end

local function list(id1, kind, latest, skipped)
  return read(LISTED .. dialect.forced ..
    "WHERE id1 = %.0f AND link_type = %d AND time >= 0 AND time <= %s AND visibility = %d " ..
    "ORDER BY time DESC LIMIT %d OFFSET %d", id1, kind, latest, VISIBLE, opt.range_limit, skipped)
end

local function earlier_list(place)
  local tail = tails[place]
  local send = list(tail.id1, tail.kind, tail.time, 1)
  return function()
    local found = send()
    if found.nrows == opt.range_limit then tail.time = oldest(found) else forget(place) end
  end
end

function OPERATIONS.getlinklist()
  if random() < opt.history / 100 and #tails > 0 then return earlier_list(random(#tails)) end
  local id1, kind = graph.link_read(), LINK_TYPE + any_type()
  local send = list(id1, kind, LATEST, 0)
  return function()
    local found = send()
    if found.nrows < opt.range_limit then return end
    remember({id1 = id1, kind = kind, name = ("%.0f/%d"):format(id1, kind), time = oldest(found)})
  end
end

function OPERATIONS.getnode()
  return read("SELECT id, type, version, time, data FROM nodetable WHERE id = %.0f", graph.node_read())
end

local function alone(text, ...)
  local statement = text:format(...)
  return function() dialect.only("%s", statement) end
end

function OPERATIONS.addnode()
  return alone("INSERT INTO nodetable (type, version, time, data) VALUES (%d, 1, %d, %s)", NODE_TYPE, os.time(),
    dialect.literal(payload(graph.addnode)))
end

function OPERATIONS.updatenode()
  return alone("UPDATE nodetable SET version = 2, time = %d, data = %s WHERE id = %.0f AND type = %d", os.time(),
    dialect.literal(payload(graph.updatenode)), graph.node_update(), NODE_TYPE)
end

function OPERATIONS.deletenode()
  return alone("DELETE FROM nodetable WHERE id = %.0f AND type = %d", graph.node_delete(), NODE_TYPE)
end

-- Loading: every thread fills a range of ids.

local function create_tables()
  local number, whole, small, options = dialect.number, dialect.whole, dialect.small, dialect.options
  local function create(name, columns, partitioned)
    con:query(("CREATE TABLE %s (%s) %s"):format(name, columns, options(partitioned)))
  end
  create("nodetable", "id " .. dialect.identity .. ", type " .. whole .. ", version " .. number ..
    ", time " .. whole .. ", data " .. dialect.text .. ", PRIMARY KEY (id)")
  create("linktable", "id1 " .. number .. ", id2 " .. number .. ", link_type " .. number ..
    ", visibility " .. small .. ", data " .. dialect.short .. ", time " .. number ..
    ", version " .. whole .. ", PRIMARY KEY (link_type, id1, id2)" .. dialect.index, true)
  if dialect.separate then con:query(dialect.separate) end
  -- The last: the other threads wait for it.
  create("counttable", "id " .. number .. ", link_type " .. number .. ", count " .. whole ..
    ", time " .. number .. ", version " .. number .. ", PRIMARY KEY (id, link_type)")
end

local function wait_for_tables()
  local asked = "SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'counttable'"
  for _ = 1, 6000 do
    if con:query_row(asked) == "1" then return end
    ffi.C.usleep(10000)
  end
  error("linkbench: the first thread made no tables within 60 s", 0)
end

local function bulk(first, last, head, rows_of)
  con:bulk_insert_init(head)
  for id = first, last do
    rows_of(id, function(text, ...) con:bulk_insert_next(text:format(...)) end)
  end
  con:bulk_insert_done()
end

local function load_nodes(first, last)
  local of = payloads(NODE_DATA)
  bulk(first, last, "INSERT INTO nodetable (id, type, version, time, data) VALUES", function(id, add)
    add("(%.0f, %d, 1, %.0f, %s)", id, NODE_TYPE, LOADED_MS / 1000, dialect.literal(payload(of)))
  end)
end

-- Adds the links of a type; returns the time of the latest one.
local function add_links(id, nth, of, add)
  local latest = 0
  for place = 0, graph.links(id, nth) - 1 do
    local at = LOADED_MS - 1 - floor(random() * LOADED_SPAN_MS)
    add("(%.0f, %.0f, %d, %d, %s, %.0f, 0)", id, id + place, LINK_TYPE + nth, VISIBLE, dialect.literal(payload(of)), at)
    latest = math.max(latest, at)
  end
  return latest
end

local function load_links(first, last, of)
  local latest = {}
  bulk(first, last, "INSERT INTO linktable (id1, id2, link_type, visibility, data, time, version) VALUES",
    function(id, add)
      for nth = 0, opt.link_types - 1 do latest[#latest + 1] = add_links(id, nth, of, add) end
    end)
  bulk(first, last, "INSERT INTO counttable (id, link_type, count, time, version) VALUES", function(id, add)
    for nth = 0, opt.link_types - 1 do
      local count, at = graph.links(id, nth), latest[(id - first) * opt.link_types + nth + 1]
      if count > 0 then add("(%.0f, %d, %d, %.0f, 0)", id, LINK_TYPE + nth, count, at) end
    end
  end)
end

local function load_graph()
  connect()
  graph = new_graph()
  local thread = sysbench.tid % opt.threads
  if thread == 0 then create_tables() else wait_for_tables() end
  math.randomseed(1 + thread)
  local first = floor(opt.ids * thread / opt.threads) + 1
  local last = floor(opt.ids * (thread + 1) / opt.threads)
  load_nodes(first, last)
  local of = payloads(LINK_DATA)
  -- As LinkBench does it, from the highest ids down, which leaves pages less full than ascending ids would.
  for chunk = math.ceil(opt.ids / CHUNK) - 1 - thread, 0, -opt.threads do
    load_links(chunk * CHUNK + 1, math.min(opt.ids, (chunk + 1) * CHUNK), of)
  end
  if dialect == POSTGRESQL and thread == 0 then sql("SELECT setval('nodetable_id_seq', %.0f)", opt.ids) end
end

sysbench.cmdline.commands = {prepare = {load_graph, sysbench.cmdline.PARALLEL_COMMAND}}

function cleanup()
  connect()
  for _, name in ipairs({"nodetable", "linktable", "counttable"}) do con:query("DROP TABLE IF EXISTS " .. name) end
end

-- Running

local tally, pending

-- Threads have Lua states of their own, so what they count is in memory that the first one gives them.
function init()
  local all = ffi.C.calloc(opt.threads * #MIX * WIDTH, ffi.sizeof("double"))
  ffi.C.setenv(TALLY, ("%.0f"):format(tonumber(ffi.cast("uintptr_t", all))), 1)
end

local function shared_tally()
  return ffi.cast("double *", ffi.cast("uintptr_t", tonumber(os.getenv(TALLY))))
end

-- What a requester draws from: LinkBench gives each its own motifs.
local function new_requester()
  graph = new_graph()
  graph.addlink, graph.updatelink = payloads(LINK_DATA), payloads(LINK_DATA)
  graph.addnode, graph.updatenode = payloads(NODE_DATA), payloads(NODE_DATA)
end

function thread_init(thread)
  connect()
  reader = driver:connect()
  dialect.opened(reader)
  dialect.transactions()
  math.randomseed(sysbench.rand.uniform(1, 2147483647))
  new_requester()
  tally = shared_tally() + thread % opt.threads * #MIX * WIDTH
end

function thread_done()
  con:disconnect()
  reader:disconnect()
end

function sysbench.hooks.before_restart_event() con:query("ROLLBACK") end

local function drawn_operation()
  local left = random() * 100
  for place, operation in ipairs(MIX) do
    left = left - operation[2]
    if left < 0 then return place end
  end
  return #MIX
end

-- A call of one event is to show what is sent: it sends each operation once.
local function send_each()
  for _, operation in ipairs(MIX) do OPERATIONS[operation[1]](operation[1])() end
end

local function drawn()
  local place = drawn_operation()
  local name = MIX[place][1]
  return {place = place, send = OPERATIONS[name](name), began = now_us()}
end

function event()
  if opt.events == 1 then return send_each() end
  -- What is rolled back is sent again, timed from the first, so that the mix stays as it is.
  pending = pending or drawn()
  pending.send()
  local us, own = now_us() - pending.began, tally + (pending.place - 1) * WIDTH
  local bucket = us > 1 and math.min(BUCKETS - 1, floor(math.log(us) / STEP)) or 0
  own[bucket], own[BUCKETS], own[BUCKETS + 1] = own[bucket] + 1, own[BUCKETS] + us, math.max(own[BUCKETS + 1], us)
  pending = nil
end

-- The end: latencies of all threads, and the counts against the links.

local function print_operation(place, name)
  local all, sum, longest, calls = {}, 0, 0, 0
  for thread = 0, opt.threads - 1 do
    local own = shared_tally() + (thread * #MIX + place - 1) * WIDTH
    for bucket = 0, BUCKETS - 1 do all[bucket] = (all[bucket] or 0) + own[bucket] end
    sum, longest = sum + own[BUCKETS], math.max(longest, own[BUCKETS + 1])
  end
  local filled = {}
  for bucket = 0, BUCKETS - 1 do
    if all[bucket] > 0 then
      calls = calls + all[bucket]
      filled[#filled + 1] = ("%.0f:%.0f"):format(math.exp((bucket + 1) * STEP), all[bucket])
    end
  end
  if calls > 0 then
    print(("operation %s: %.0f calls, sum %.0f us, longest %.0f us, up to us: %s"):format(name, calls, sum, longest,
      table.concat(filled, " ")))
  end
end

-- Returns how many counts of the nodes from `first` to `last` are not the number of their visible links.
local function wrong_counts(first, last)
  return tonumber(con:query_row(([[SELECT COUNT(*) FROM (SELECT id, link_type, SUM(links) AS off FROM (
    SELECT id1 AS id, link_type, 1.0 AS links FROM linktable WHERE id1 BETWEEN %.0f AND %.0f AND visibility = 1
    UNION ALL SELECT id, link_type, -1.0 * count FROM counttable WHERE id BETWEEN %.0f AND %.0f) AS counted
    GROUP BY id, link_type HAVING SUM(links) <> 0) AS wrong]]):format(first, last, first, last)))
end

local function check_counts()
  local pieces = math.min(100, opt.ids)
  local length = math.min(opt.check_ids, opt.ids) / pieces
  local wrong, seen = 0, 0
  for piece = 0, pieces - 1 do
    local first = floor(piece * opt.ids / pieces) + 1
    local last = floor(piece * opt.ids / pieces + length)
    if last >= first then
      wrong, seen = wrong + wrong_counts(first, last), seen + last - first + 1
    end
  end
  if wrong > 0 then
    error(("linkbench: %d counts differ from the links, of %d nodes checked"):format(wrong, seen), 0)
  end
  print(("counts agree with the links: %d nodes checked"):format(seen))
end

function done()
  if opt.events == 1 then return end
  for place, operation in ipairs(MIX) do print_operation(place, operation[1]) end
  connect()
  check_counts()
  print("commits: " .. (dialect.transactions() and "in the packet of the last statement" or "packets of their own"))
end

-- For tests of what it draws and sends.
linkbench = {shuffled = shuffled, turned = turned, seeds = SEEDS, links_at = links_at, asked_at_once = asked_at_once,
  payloads = payloads, payload = payload, link_data = LINK_DATA, node_data = NODE_DATA, add_links = add_links,
  mix = MIX, drawn = drawn_operation, operations = OPERATIONS, remembered = function() return #tails end}

-- For tests: takes a connection that answers, in place of a server's; returns the graph.
function linkbench.against(connection)
  con, reader, dialect = connection, connection, MYSQL
  new_requester()
  return graph
end
