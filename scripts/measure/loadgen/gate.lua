-- Runs another script, and delays its start until the clients of all sysbench processes are connected.
-- GATED_SCRIPT: the script. GATE_READY: a file to which every connected client appends one byte.
-- GATE: a FIFO that is opened for writing when all clients may start.

local script = os.getenv("GATED_SCRIPT")
if script:find("/", 1, true) then
   dofile(script)
else
   require(script)
end

local connect = thread_init
local report = sysbench.hooks.report_intermediate or sysbench.report_default

-- sysbench divides by its own, inexact interval when many clients share few CPUs; its counts are exact.
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
   -- sysbench starts the clients of a process when the last one is ready, so one waiting client delays them all.
   if sysbench.tid % sysbench.opt.threads == 0 then
      assert(io.open(os.getenv("GATE"), "r")):close()
   end
end
