-- Runs another script, and holds this process at its start until the clients of all processes are connected.
-- GATED_SCRIPT names the script, GATE_READY a file that gets a byte from every client that is ready, GATE a FIFO that
-- is opened for writing when all may begin.

local script = os.getenv("GATED_SCRIPT")
if script:find("/", 1, true) then
   dofile(script)
else
   require(script)
end

local connect = thread_init
local report = sysbench.hooks.report_intermediate or sysbench.report_default

-- sysbench's rates are over seconds of its own, which many clients on few CPUs move about; what it counted is exact.
sysbench.hooks.report_intermediate = function(stat)
   report(stat)
   local queries = stat.reads + stat.writes + stat.other
   print(string.format("[ counted ] %d %d %d %d", stat.events, queries, stat.errors, stat.reconnects))
end

function thread_init(...)
   if connect then connect(...) end
   local ready = assert(io.open(os.getenv("GATE_READY"), "a"))
   ready:write(".")
   ready:close()
   -- sysbench lets none of a process's clients begin before the last one is ready: one that waits holds them all.
   if sysbench.tid % sysbench.opt.threads == 0 then
      assert(io.open(os.getenv("GATE"), "r")):close()
   end
end
