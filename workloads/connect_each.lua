-- An application that keeps no connection: each event connects, reads a row by its primary key, and disconnects.
-- A client that finds the server's queue of connections full on a Unix socket tries again, and its event takes as much
-- longer: Debian's client library (libmariadb 3.3, seen by strace) without a pause until the clock's next full second,
-- then this script after every millisecond. Only what the script waited for is counted, as the operation queue_full.

local ffi = require("ffi")

ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } connect_each_time;
int connect_each_clock(int clock, connect_each_time *now) __asm__("clock_gettime");
int connect_each_sleep(unsigned int microseconds) __asm__("usleep");
]]

sysbench.cmdline.options = {
   tables = {"Number of tables", 1},
   table_size = {"Rows of each table", 10000},
}

local PAUSE_US, PATIENCE_US = 1000, 10e6
local STEP = math.log(1.05)
local driver
local clock = ffi.new("connect_each_time")
local calls, sum_us, longest_us, buckets = 0, 0, 0, {}

local function now_us()
   ffi.C.connect_each_clock(1, clock)
   return tonumber(clock.seconds) * 1e6 + tonumber(clock.nanoseconds) / 1e3
end

local function note_wait(us)
   local bucket = math.ceil(math.log(math.max(us, 1)) / STEP)
   calls, sum_us, longest_us = calls + 1, sum_us + us, math.max(longest_us, us)
   buckets[bucket] = (buckets[bucket] or 0) + 1
end

local function connected()
   local began = now_us()
   local there, connection = pcall(driver.connect, driver)
   if there then return connection end
   repeat
      ffi.C.connect_each_sleep(PAUSE_US)
      there, connection = pcall(driver.connect, driver)
   until there or now_us() - began > PATIENCE_US
   if not there then error(("no connection within %d s: %s"):format(PATIENCE_US / 1e6, connection), 0) end
   note_wait(now_us() - began)
   return connection
end

function init()
   print("retries: FATAL: unable to connect to MySQL server on socket")
   print("retries: FATAL: error 2002: Can't connect to local server through socket")
end

function thread_init()
   driver = sysbench.sql.driver()
end

function event()
   local table_number = sysbench.rand.uniform(1, sysbench.opt.tables)
   local id = sysbench.rand.uniform(1, sysbench.opt.table_size)
   local connection = connected()
   connection:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", table_number, id))
   connection:disconnect()
end

function thread_done()
   if calls == 0 then return end
   local filled = {}
   for bucket, count in pairs(buckets) do
      filled[#filled + 1] = ("%.0f:%d"):format(math.exp(bucket * STEP), count)
   end
   -- One write, as the threads share the output.
   io.write(("operation queue_full: %d calls, sum %.0f us, longest %.0f us, up to us: %s\n"):format(calls, sum_us,
      longest_us, table.concat(filled, " ")))
end
