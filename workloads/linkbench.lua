-- LinkBench's load on a social graph, for sysbench 1.0 and 1.1 with its mysql and pgsql drivers.
--
-- Nodes, links between them and the number of visible links of each node and type, read and written by ten operations.
-- Tables, mix, distributions, payloads and the chance that a link asked for exists are those LinkBench publishes (its
-- README, config/FBWorkload.properties; Armstrong et al., SIGMOD 2013). An event is one operation; where the server
-- rolls it back, another of its kind is sent. At the end counts and links are compared; a count that is off is an
-- error.
--
-- `sysbench linkbench.lua help` lists the options. Departures:
--   * Links per node: LinkBench has a file of measured figures. Here P(links >= k) = (k + 1) ^ -links_exponent: more
--     than half of the nodes have none, the mean is about 4 (LinkBench's 1 KB a node), the tail is long.
--   * A rank becomes an id by multiplication modulo `ids` where LinkBench shuffles: both spread hot ids over the pages.
--   * How many rows an INSERT changed is asked for with SELECT ROW_COUNT() (sysbench's Lua does not know it); for
--     PostgreSQL it is ON CONFLICT DO NOTHING RETURNING, then a look at the link that is there.
--   * Payloads are printable letters, so that every server takes them; at most 65536 of a node, not 1048576.
--   * linktable is one piece unless `partitions` says otherwise; LinkBench makes 16 of it.
--   * Nodes that are added are not read again, as with LinkBench; deleted ones are missed.

local ffi = require("ffi")
ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } linkbench_time;
int clock_gettime(int clock, linkbench_time *now);
int usleep(unsigned int microseconds);
void *calloc(size_t count, size_t size);
int setenv(const char *name, const char *value, int overwrite);
]]

sysbench.cmdline.options = {
  ids = {"Nodes to load, about 1 KB each with their links", 10000},
  link_types = {"Types of links", 2},
  links_exponent = {"Exponent of the number of links of a node, above 1", 1.2},
  max_links = {"Most links of a node", 100000},
  range_limit = {"Most links that one list returns", 10000},
  history = {"Share of lists that ask for what an earlier, full list left out", 0.3},
  check_ids = {"Nodes whose counts are checked at the end, evenly spread", 100000},
  partitions = {"Partitions of the links by node, 0 for none (MySQL and MariaDB)", 0},
  mysql_storage_engine = {"Storage engine (MySQL and MariaDB)", "innodb"},
  create_table_options = {"Further options of all three tables", ""},
}

-- Per cent of all operations.
local MIX = {
  {"addlink", 8.9886601}, {"deletelink", 2.9907664}, {"updatelink", 8.0122125}, {"countlink", 4.8863567},
  {"getlink", 0.5261142}, {"getlinklist", 50.7119145}, {"getnode", 12.9326683}, {"addnode", 2.5732789},
  {"updatenode", 7.366437}, {"deletenode", 1.0115914},
}
local LINK_TYPE, NODE_TYPE = 123456789, 2048
local VISIBLE, HIDDEN = 1, 0
-- The chance that the link an operation names was loaded.
local EXISTS = {addlink = 0.05, updatelink = 0.9, deletelink = 0.9, getlink = 0.5}
local LOADED_AT_MS, LATEST_MS = 1300000000000, 9000000000000000
-- Median and longest payload, share of it that is drawn anew, and the letters it is drawn from.
local LINK_DATA = {median = 8, longest = 255, fresh = 0.225, first = 40, last = 91}
local NODE_DATA = {median = 128, longest = 65536, fresh = 0.63, first = 40, last = 126}
local BACKSLASH, WORD, MOTIF = 92, 8, 128
-- Latency in buckets of 5 %, in µs; then the sum and the longest.
local BUCKETS, STEP = 400, math.log(1.05)
local WIDTH, TALLY = BUCKETS + 2, "LINKBENCH_TALLY"

-- sysbench reads its options after this file.
local opt = setmetatable({}, {__index = function(_, name) return sysbench.opt[name] end})
local con, graph, dialect
local random, floor = math.random, math.floor

-- Distributions

-- Returns k -> (a * k + b) mod n and its inverse, for k and results of 0 to n - 1; `a` is near n * share, prime to n.
local function permutation(n, share)
  local function common(x, y)
    while y > 0 do x, y = y, x % y end
    return x
  end
  local a = math.max(1, floor(n * share))
  while common(a, n) > 1 do a = a + 1 end
  local x, y, r, s = 0, 1, n, a
  while s > 0 do
    local q = floor(r / s)
    x, y, r, s = y, x - q * y, s, r - q * s
  end
  local there, back, b = ffi.new("uint64_t", a), ffi.new("uint64_t", x % n), floor(n * (share * 7 % 1))
  return function(k) return tonumber((there * k + b) % n) end, function(k) return tonumber(back * ((k - b) % n) % n) end
end

-- Returns a function that draws ranks 1 to n with P(k) ~ k ^ -s, s not 1: rejection-inversion, Hörmann and Derflinger
-- 1996.
local function zipf(n, s)
  local function area(x) return (x ^ (1 - s) - 1) / (1 - s) end
  local low, high = area(1.5) - 1, area(n + 0.5)
  return function()
    while true do
      local y = low + random() * (high - low)
      local k = math.max(1, math.min(n, floor((1 + y * (1 - s)) ^ (1 / (1 - s)) + 0.5)))
      if y >= area(k + 0.5) - k ^ -s then return k end
    end
  end
end

-- Returns 1 to `most` with P(k) ~ (1 - p) ^ k.
local function geometric(p, most)
  return math.min(most, 1 + floor(math.log(1 - random()) / math.log(1 - p)))
end

local buffer = ffi.new("char[?]", NODE_DATA.longest)

-- Returns a payload: length log-normal with sigma 1, words drawn anew or those of one motif.
local function payload(kind)
  local normal = math.sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random())
  local length, fresh = math.min(kind.longest, floor(kind.median * math.exp(normal))), false
  for place = 0, length - 1 do
    if place % WORD == 0 then fresh = random() < kind.fresh end
    local letter = fresh and random(kind.first, kind.last) or kind.first + place * 7 % MOTIF % (kind.last - kind.first)
    buffer[place] = letter == BACKSLASH and kind.first or letter
  end
  return ffi.string(buffer, length)
end

-- Returns what is known of the loaded graph without asking: its links, and who is read and written how often.
local function new_graph()
  local n, types = opt.ids, opt.link_types
  local most_linked, rank_of = permutation(n, 0.6180339887)
  local function drawn(s, share, uncorrelated)
    local draw, elsewhere = zipf(n, s), permutation(n, share)
    return function()
      local place = random() < uncorrelated and elsewhere or most_linked
      return 1 + place(draw() - 1)
    end
  end
  local self = {
    link_read = drawn(0.8, 0.7548776662, 0.995),
    link_write = drawn(0.741, 0.5698402910, 0.95),
    node_read = drawn(0.625, 0.8191725134, 1),
    node_update = drawn(0.606, 0.6710436067, 1),
    node_delete = function() return random(n) end,
  }
  function self.links(id, kind)
    local rank = rank_of(id - 1) + 0.5
    local all = math.min(opt.max_links, floor((n / rank) ^ (1 / opt.links_exponent)) - 1)
    return floor(all / types) + (kind < all % types and 1 or 0)
  end
  -- Loaded links of a node and type lead to id1, id1 + 1, ...; so a range a little longer holds others too.
  function self.other_end(id1, kind, exists)
    return id1 + random(0, math.max(1, math.ceil(self.links(id1, kind) / exists)) - 1)
  end
  return self
end

-- Statements

local function sql(text, ...) return con:query(text:format(...)) end

local LINK = "id1 = %.0f AND id2 = %.0f AND link_type = %d"
local LOCKED = "SELECT visibility FROM linktable WHERE " .. LINK .. " FOR UPDATE"
local PUT_LINK = "INSERT INTO linktable (id1, id2, link_type, visibility, data, time, version) " ..
  "VALUES (%.0f, %.0f, %d, 1, '%s', %.0f, 0) "
local PUT_COUNT = "INSERT INTO counttable (id, link_type, count, time, version) VALUES (%.0f, %d, %d, %.0f, 0) "

local MYSQL = {
  forced = "FORCE INDEX (id1_type) ",
  number = "bigint unsigned NOT NULL DEFAULT 0",
  whole = "int unsigned NOT NULL DEFAULT 0",
  small = "tinyint NOT NULL DEFAULT 0",
  identity = "bigint unsigned NOT NULL AUTO_INCREMENT",
  text = "mediumtext",
  index = ", KEY id1_type (id1, link_type, visibility, time, id2, version, data)",
  count = "ON DUPLICATE KEY UPDATE count = count %+d, time = %.0f, version = version + 1",
}

function MYSQL.options(partitioned)
  local text = "ENGINE = %s DEFAULT CHARSET = latin1 COLLATE = latin1_bin " .. opt.create_table_options
  local parts = opt.partitions > 0 and partitioned and " PARTITION BY KEY (id1) PARTITIONS " .. opt.partitions or ""
  return text:format(opt.mysql_storage_engine) .. parts
end

-- Makes a link visible; returns whether it was there before, and whether it was visible.
function MYSQL.show(id1, id2, kind, data, now)
  sql(PUT_LINK .. "ON DUPLICATE KEY UPDATE visibility = 1", id1, id2, kind, data, now)
  local changed = con:query_row("SELECT ROW_COUNT()")
  return changed ~= "1", changed == "0"
end

local POSTGRESQL = {
  forced = "",
  number = "bigint NOT NULL DEFAULT 0",
  whole = "int NOT NULL DEFAULT 0",
  small = "smallint NOT NULL DEFAULT 0",
  identity = "bigserial NOT NULL",
  text = "text",
  index = "",
  separate = "CREATE INDEX id1_type ON linktable (id1, link_type, visibility, time, id2, version, data)",
  count = "ON CONFLICT (id, link_type) DO UPDATE " ..
    "SET count = counttable.count %+d, time = %.0f, version = counttable.version + 1",
}

function POSTGRESQL.options() return opt.create_table_options end

function POSTGRESQL.show(id1, id2, kind, data, now)
  local made = sql(PUT_LINK .. "ON CONFLICT DO NOTHING RETURNING 1", id1, id2, kind, data, now)
  if made.nrows == 1 then return false, false end
  -- Locked before it is judged: whoever hides it now has to be waited for.
  return true, con:query_row(LOCKED:format(id1, id2, kind)) == tostring(VISIBLE)
end

local function connect()
  local driver = sysbench.sql.driver()
  dialect = driver:name() == "pgsql" and POSTGRESQL or MYSQL
  con = driver:connect()
end

-- Operations

local earlier = {}
local function now_ms() return os.time() * 1000 + random(0, 999) end
local function any_type() return random(0, opt.link_types - 1) end

local function change_count(id1, kind, step, now)
  sql(PUT_COUNT .. dialect.count, id1, kind, math.max(step, 0), now, step, now)
end

local function put_link(operation)
  local id1, nth, now, data = graph.link_write(), any_type(), now_ms(), payload(LINK_DATA)
  local id2, kind = graph.other_end(id1, nth, EXISTS[operation]), LINK_TYPE + nth
  con:query("BEGIN")
  local there, visible = dialect.show(id1, id2, kind, data, now)
  if there then
    sql("UPDATE linktable SET visibility = 1, data = '%s', time = %.0f, version = version + 1 WHERE " .. LINK,
      data, now, id1, id2, kind)
  end
  if not visible then change_count(id1, kind, 1, now) end
  con:query("COMMIT")
end

local RUN = {addlink = put_link, updatelink = put_link}

function RUN.deletelink(operation)
  local id1, nth = graph.link_write(), any_type()
  local id2, kind = graph.other_end(id1, nth, EXISTS[operation]), LINK_TYPE + nth
  con:query("BEGIN")
  if con:query_row(LOCKED:format(id1, id2, kind)) == tostring(VISIBLE) then
    sql("UPDATE linktable SET visibility = %d WHERE " .. LINK, HIDDEN, id1, id2, kind)
    change_count(id1, kind, -1, now_ms())
  end
  con:query("COMMIT")
end

function RUN.countlink()
  sql("SELECT count FROM counttable WHERE id = %.0f AND link_type = %d", graph.link_read(), LINK_TYPE + any_type())
end

function RUN.getlink(operation)
  local id1, nth, wanted = graph.link_read(), any_type(), {}
  for place = 1, geometric(0.382, 128) do
    wanted[place] = ("%.0f"):format(graph.other_end(id1, nth, EXISTS[operation]))
  end
  sql("SELECT id1, id2, link_type, visibility, data, time, version FROM linktable " ..
    "WHERE id1 = %.0f AND link_type = %d AND id2 IN (%s)", id1, LINK_TYPE + nth, table.concat(wanted, ", "))
end

-- A list that was cut off is remembered, so that a later one asks for what came before it.
local function remember(id1, kind, found)
  local oldest
  for _ = 1, found.nrows do oldest = found:fetch_row()[6] end
  earlier[#earlier % 100 + 1] = {id1, kind, tonumber(oldest) - 1}
end

function RUN.getlinklist()
  local id1, kind, latest = graph.link_read(), LINK_TYPE + any_type(), LATEST_MS
  if #earlier > 0 and random() < opt.history then id1, kind, latest = unpack(earlier[random(#earlier)]) end
  local found = sql("SELECT id1, id2, link_type, visibility, data, time, version FROM linktable " .. dialect.forced ..
    "WHERE id1 = %.0f AND link_type = %d AND time >= 0 AND time <= %.0f AND visibility = %d " ..
    "ORDER BY time DESC LIMIT %d", id1, kind, latest, VISIBLE, opt.range_limit)
  if found.nrows == opt.range_limit then remember(id1, kind, found) end
end

function RUN.getnode()
  sql("SELECT id, type, version, time, data FROM nodetable WHERE id = %.0f", graph.node_read())
end

function RUN.addnode()
  sql("INSERT INTO nodetable (type, version, time, data) VALUES (%d, 1, %d, '%s')",
    NODE_TYPE, os.time(), payload(NODE_DATA))
end

function RUN.updatenode()
  sql("UPDATE nodetable SET version = version + 1, time = %d, data = '%s' WHERE id = %.0f AND type = %d",
    os.time(), payload(NODE_DATA), graph.node_update(), NODE_TYPE)
end

function RUN.deletenode()
  sql("DELETE FROM nodetable WHERE id = %.0f AND type = %d", graph.node_delete(), NODE_TYPE)
end

-- Loading: every thread fills a range of ids.

local function create_tables()
  local number, whole, small, options = dialect.number, dialect.whole, dialect.small, dialect.options
  local function create(name, columns, partitioned)
    con:query(("CREATE TABLE %s (%s) %s"):format(name, columns, options(partitioned)))
  end
  create("nodetable", "id " .. dialect.identity .. ", type " .. whole .. ", version " .. number ..
    ", time " .. whole .. ", data " .. dialect.text .. " NOT NULL, PRIMARY KEY (id)")
  create("linktable", "id1 " .. number .. ", id2 " .. number .. ", link_type " .. number ..
    ", visibility " .. small .. ", data varchar(255) NOT NULL DEFAULT '', time " .. number ..
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

local function load_nodes(id, add)
  add("(%.0f, %d, 1, %.0f, '%s')", id, NODE_TYPE, LOADED_AT_MS / 1000, payload(NODE_DATA))
end

local function load_links(id, add)
  for nth = 0, opt.link_types - 1 do
    for place = 0, graph.links(id, nth) - 1 do
      local at = LOADED_AT_MS + id % 1000 * 1000 - place
      add("(%.0f, %.0f, %d, %d, '%s', %.0f, 0)", id, id + place, LINK_TYPE + nth, VISIBLE, payload(LINK_DATA), at)
    end
  end
end

local function load_counts(id, add)
  for nth = 0, opt.link_types - 1 do
    local count = graph.links(id, nth)
    if count > 0 then add("(%.0f, %d, %d, %.0f, 0)", id, LINK_TYPE + nth, count, LOADED_AT_MS) end
  end
end

local function load_graph()
  connect()
  graph = new_graph()
  local thread = sysbench.tid % opt.threads
  if thread == 0 then create_tables() else wait_for_tables() end
  math.randomseed(1 + thread)
  local first = floor(opt.ids * thread / opt.threads) + 1
  local last = floor(opt.ids * (thread + 1) / opt.threads)
  bulk(first, last, "INSERT INTO nodetable (id, type, version, time, data) VALUES", load_nodes)
  bulk(first, last, "INSERT INTO linktable (id1, id2, link_type, visibility, data, time, version) VALUES", load_links)
  bulk(first, last, "INSERT INTO counttable (id, link_type, count, time, version) VALUES", load_counts)
  if dialect == POSTGRESQL and thread == 0 then sql("SELECT setval('nodetable_id_seq', %.0f)", opt.ids) end
end

sysbench.cmdline.commands = {prepare = {load_graph, sysbench.cmdline.PARALLEL_COMMAND}}

function cleanup()
  connect()
  for _, name in ipairs({"nodetable", "linktable", "counttable"}) do con:query("DROP TABLE IF EXISTS " .. name) end
end

-- Running

local tally, clock, pending

local function now_us()
  ffi.C.clock_gettime(1, clock)
  return tonumber(clock.seconds) * 1e6 + tonumber(clock.nanoseconds) / 1e3
end

-- Threads have Lua states of their own, so what they count is in memory that the first one gives them.
function init()
  local all = ffi.C.calloc(opt.threads * #MIX * WIDTH, ffi.sizeof("double"))
  ffi.C.setenv(TALLY, ("%.0f"):format(tonumber(ffi.cast("uintptr_t", all))), 1)
end

local function shared_tally()
  return ffi.cast("double *", ffi.cast("uintptr_t", tonumber(os.getenv(TALLY))))
end

function thread_init(thread)
  connect()
  math.randomseed(sysbench.rand.uniform(1, 2147483647))
  graph, clock = new_graph(), ffi.new("linkbench_time")
  tally = shared_tally() + thread % opt.threads * #MIX * WIDTH
end

function thread_done() con:disconnect() end

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
  for _, operation in ipairs(MIX) do RUN[operation[1]](operation[1]) end
end

function event()
  if opt.events == 1 then return send_each() end
  -- Of what is rolled back another of its kind is sent, timed from the first, so that the mix stays as it is.
  pending = pending or {drawn_operation(), now_us()}
  local place, began = unpack(pending)
  local name = MIX[place][1]
  RUN[name](name)
  local us, own = now_us() - began, tally + (place - 1) * WIDTH
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
end

-- For tests of what it draws.
linkbench = {permutation = permutation, zipf = zipf, geometric = geometric, payload = payload, graph = new_graph,
  link_data = LINK_DATA, node_data = NODE_DATA}
