-- Runs another script with its clients held at a gate between two transactions, and counts what they do in each slice.
-- GATED_SCRIPT names the script, GATE_FILE the shared file that scripts/measure/loadgen/slice_gate.py lays out and describes,
-- GATE_FIRST_SLOT the slot of this process's first client.

local ffi = require("ffi")

ffi.cdef[[
typedef struct {
   int32_t word, skip_us, look, unused;
   int64_t opened_ns, slice_ns, slots_at, slot_bytes, buckets, positions;
   double bucket_step;
} gate_head;
typedef struct {
   int64_t held_at, completed, counted, first_ns, last_ns, queries, errors, reconnects, events, unused[7];
} gate_slot;
typedef struct { long sec, nsec; } gate_time;
int open(const char *path, int flags, ...);
void *mmap(void *address, size_t length, int protection, int flags, int file, long offset);
long syscall(long number, ...);
int clock_gettime(int clock, gate_time *now);
uint64_t sb_counter_val(int thread_id, int counter);
]]

-- The head's word is a number that only grows: even while the gate is closed, odd while it is open.
local LEAVE, GONE = -1, -2
-- Numbers of sysbench's own counters (sb_counter.h of 1.0.20).
local OTHER, READ, WRITE, EVENTS, ERRORS, RECONNECTS = 0, 1, 2, 3, 4, 5
local READ_WRITE, SHARED, MONOTONIC, FUTEX, WAIT = 2, 1, 1, 202, 0

local own_loop = thread_run
local script = os.getenv("GATED_SCRIPT")
if script:find("/", 1, true) then
   dofile(script)
else
   require(script)
end
if thread_run ~= own_loop then
   error(script .. ": has a thread_run of its own, so its clients cannot be held at a gate")
end

local now = ffi.new("gate_time")

local function now_ns()
   ffi.C.clock_gettime(MONOTONIC, now)
   return tonumber(now.sec) * 1e9 + tonumber(now.nsec)
end

local has_counters = pcall(function() return ffi.C.sb_counter_val end)

local function counter(thread_id, number)
   return has_counters and tonumber(ffi.C.sb_counter_val(thread_id, number)) or -1
end

local function note_counters(slot, thread_id)
   slot.queries = counter(thread_id, OTHER) + counter(thread_id, READ) + counter(thread_id, WRITE)
   slot.errors, slot.reconnects = counter(thread_id, ERRORS), counter(thread_id, RECONNECTS)
   slot.events = counter(thread_id, EVENTS)
end

-- Return the shared file's memory and its size.
local function mapped()
   local path, bytes = os.getenv("GATE_FILE"), tonumber(os.getenv("GATE_BYTES"))
   local file = ffi.C.open(path, READ_WRITE)
   if file < 0 then
      error("GATE_FILE " .. path .. ": cannot be opened")
   end
   local memory = ffi.C.mmap(nil, bytes, 3, SHARED, file, 0)
   if ffi.cast("intptr_t", memory) == -1 then
      error("GATE_FILE " .. path .. ": cannot be mapped")
   end
   return ffi.cast("uint8_t *", memory), bytes
end

-- Return whether the gate is open, or false when all shall leave. A client says at which closing it is held, and says
-- so anew for each: one that slept through a whole slice is then known to be held, and none that is on its way.
local function passed(head, slot, thread_id)
   while head.word % 2 == 0 do
      note_counters(slot, thread_id)
      local closing = head.word
      slot.held_at = closing
      ffi.C.syscall(FUTEX, ffi.cast("void *", head), ffi.cast("int", WAIT), ffi.cast("int", closing), nil, nil,
                    ffi.cast("int", 0))
   end
   return head.word ~= LEAVE
end

-- The loop of sysbench.lua (1.0.20), with a gate before each transaction and a count behind it.
function thread_run(thread_id)
   local memory, bytes = mapped()
   local head = ffi.cast("volatile gate_head *", memory)
   local number = tonumber(os.getenv("GATE_FIRST_SLOT")) + thread_id
   if head.slots_at + (number + 1) * head.slot_bytes > bytes then
      error("GATE_FIRST_SLOT: no slot " .. number .. " in the " .. bytes .. " bytes of " .. os.getenv("GATE_FILE"))
   end
   local at = memory + head.slots_at + number * head.slot_bytes
   local slot = ffi.cast("volatile gate_slot *", at)
   local positions = ffi.cast("uint32_t *", at + ffi.sizeof("gate_slot"))
   local histogram = positions + tonumber(head.positions)
   local most, last_position = tonumber(head.buckets) - 1, tonumber(head.positions) - 1
   local per_step = 1 / math.log(head.bucket_step)
   local look = 0

   while ffi.C.sb_more_events(thread_id) do
      if not passed(head, slot, thread_id) then break end
      local opened_ns, begun_ns = tonumber(head.opened_ns), now_ns()
      local counts = begun_ns - opened_ns >= head.skip_us * 1e3
      if counts and slot.first_ns == 0 then
         slot.first_ns, slot.last_ns = begun_ns, begun_ns
      end

      ffi.C.sb_event_start(thread_id)
      local success, ret
      repeat
         success, ret = pcall(event, thread_id)
         if not success then
            if type(ret) == "table" and ret.errcode == sysbench.error.RESTART_EVENT then
               if sysbench.hooks.before_restart_event then
                  sysbench.hooks.before_restart_event(ret)
               end
            else
               slot.held_at = GONE
               error(ret, 2)
            end
         end
      until success
      if ret then break end
      ffi.C.sb_event_stop(thread_id)

      local ended_ns = now_ns()
      slot.completed = slot.completed + 1
      local position = math.floor((ended_ns - opened_ns) / tonumber(head.slice_ns) * (last_position + 1))
      position = math.min(position, last_position)
      positions[position] = positions[position] + 1
      if counts then
         slot.counted = slot.counted + 1
         slot.last_ns = ended_ns
         local bucket = math.floor(math.log(math.max((ended_ns - begun_ns) / 1e3, 1)) * per_step)
         bucket = math.min(bucket, most)
         histogram[bucket] = histogram[bucket] + 1
      end
      if head.look ~= look then
         look = head.look
         note_counters(slot, thread_id)
      end
   end
   note_counters(slot, thread_id)
   slot.held_at = GONE
end
