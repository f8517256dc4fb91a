-- Prints what linkbench.lua draws, without a server; DRAWN says what of it.
dofile(os.getenv("LINKBENCH"))
local own = {init = init, thread_init = thread_init, event = event}
init, thread_init, thread_done, done = nil, nil, nil, nil
local draws = 40000
local PRINT = {}

local function counted(draw, times)
  local found = {}
  for _ = 1, times do
    local value = draw()
    found[value] = (found[value] or 0) + 1
  end
  local text = {}
  for value, times_drawn in pairs(found) do text[#text + 1] = ('"%d": %d'):format(value, times_drawn) end
  return "{" .. table.concat(text, ", ") .. "}"
end

local function list(first, last, of)
  local text = {}
  for place = first, last do text[#text + 1] = ("%.0f"):format(of(place)) end
  return "[" .. table.concat(text, ", ") .. "]"
end

local function hexadecimal(text) return (text:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)) end

-- The parts, as JSON.
function PRINT.parts()
  local graph = linkbench.against()
  local function drawn(kind)
    local of, text = linkbench.payloads(kind), {}
    for place = 1, draws do text[place] = linkbench.payload(of) end
    local some = hexadecimal(table.concat(text, "", 1, 2000))
    return counted(function() return #table.remove(text) end, draws), some
  end
  local link_lengths, link_bytes = drawn(linkbench.link_data)
  local node_lengths, node_bytes = drawn(linkbench.node_data)
  local times, of = {}, linkbench.payloads(linkbench.link_data)
  for id = 1, sysbench.opt.ids do
    linkbench.add_links(id, 0, of, function(_, _, id2, _, _, _, at) times[#times + 1] = {id, id2, at} end)
  end
  local function column(number) return list(1, #times, function(place) return times[place][number] end) end
  for name, seed in pairs(linkbench.seeds) do
    for _, n in ipairs({1500, 100000}) do
      local order = linkbench.shuffled(n, seed)
      local function places(sign) return list(0, n - 1, function(k) return linkbench.turned(order, k, sign) end) end
      print(('"%s %d": [%s, %s],'):format(name, n, places(1), places(-1)))
    end
  end
  print(('"asked_at_once": %s,'):format(counted(linkbench.asked_at_once, draws)))
  local function links_at(last, n) return list(0, last, function(rank) return linkbench.links_at(rank, n) end) end
  print(('"links_at": %s, "links_at_first": %s, "links_at_small": %s,'):format(links_at(999999, 1000000),
    links_at(9999, 10000000), links_at(sysbench.opt.ids - 1, sysbench.opt.ids)))
  print(('"links": [%s, %s],'):format(list(1, sysbench.opt.ids, function(id) return graph.links(id, 0) end),
    list(1, sysbench.opt.ids, function(id) return graph.links(id, 1) end)))
  print(('"link_data": %s, "node_data": %s, "link_bytes": "%s", "node_bytes": "%s",'):format(link_lengths, node_lengths,
    link_bytes, node_bytes))
  print(('"loaded": [%s, %s, %s]'):format(column(1), column(2), column(3)))
end

-- A million operations: per draw of an id its distribution's number and the id; per operation 0 and its number; per
-- link that is named 10 + the operation's number, and whether it was loaded.
function PRINT.million()
  local graph = linkbench.against()
  local lines, number = {}, 0
  local function say(what, value) lines[#lines + 1] = ("%d %d"):format(what, value) end
  for place, name in ipairs({"link_read", "link_write", "node_read", "node_update", "node_delete"}) do
    local draw = graph[name]
    graph[name] = function()
      local id = draw()
      say(place, id)
      return id
    end
  end
  local one, several = graph.other_end, graph.other_ends
  local function named(id1, kind, id2)
    local loaded = graph.links(id1, kind)
    if loaded >= 20 then say(10 + number, id2 - id1 < loaded and 1 or 0) end
    return id2
  end
  function graph.other_end(id1, kind, exists) return named(id1, kind, one(id1, kind, exists)) end
  function graph.other_ends(id1, kind, exists, many)
    local found, seen = several(id1, kind, exists, many), {}
    for _, id2 in ipairs(found) do
      assert(not seen[id2], "an id twice")
      seen[id2] = named(id1, kind, id2)
    end
    assert(#found == many, "other than asked for")
    return found
  end
  for _ = 1, 1000000 do
    number = linkbench.drawn()
    local name = linkbench.mix[number][1]
    say(0, number)
    linkbench.operations[name](name)
  end
  print(table.concat(lines, "\n"))
end

-- A server that knows of lists what was loaded: the link j places from the newest has the time NEWEST - j.
local NEWEST = 1e12
local told = {first = 0, later = 0, first_rows = 0, later_rows = 0, full = 0, wrong = 0}
local reached, server = {}, {}

function server:query(statement)
  local number = "(%d+)"
  local id1, kind, latest, limit, skipped = statement:match("id1 = " .. number .. " AND link_type = " .. number ..
    " AND time >= 0 AND time <= " .. number .. " .* LIMIT " .. number .. " OFFSET " .. number)
  local name, start = id1 .. "/" .. kind, math.max(0, NEWEST - tonumber(latest)) + tonumber(skipped)
  local loaded = self.graph.links(tonumber(id1), tonumber(kind) - 123456789)
  local rows = math.max(0, math.min(tonumber(limit), loaded - start))
  local which = skipped == "0" and "first" or "later"
  told[which], told[which .. "_rows"] = told[which] + 1, told[which .. "_rows"] + rows
  if which == "first" and rows == tonumber(limit) then
    told.full, reached[name] = told.full + 1, reached[name] or {}
    reached[name][rows] = true
  elseif which == "later" then
    -- It goes on where one of the lists of this node ended, and ends where the next may go on.
    if not (reached[name] and reached[name][start]) then told.wrong = told.wrong + 1 end
    if rows == tonumber(limit) then reached[name][start + rows] = true end
  end
  local left = rows
  return {nrows = rows, fetch_row = function()
    left = left - 1
    return {[6] = ("%.0f"):format(NEWEST - start - (rows - left) + 1)}
  end}
end

-- Rows of a million operations, most of them no lists, as JSON.
function PRINT.rows()
  server.graph = linkbench.against(server)
  local operations = 1000000
  for _ = 1, operations do
    if linkbench.mix[linkbench.drawn()][1] == "getlinklist" then linkbench.operations.getlinklist()() end
  end
  for name, count in pairs(told) do print(('"%s": %d,'):format(name, count)) end
  print(('"remembered": %d, "operations": %d'):format(linkbench.remembered(), operations))
end

-- What a client sends when its only operation, an update of a node, is rolled back once; as JSON.
function PRINT.again()
  local sent, opened = {}, 0
  local server = {disconnect = function() end}
  function server:query(statement)
    sent[#sent + 1] = statement
    if statement:find("UPDATE nodetable", 1, true) == 1 and #sent < 5 then
      error({errcode = sysbench.error.RESTART_EVENT})
    end
  end
  function sysbench.sql.driver()
    return {name = function() return "mysql" end, connect = function()
      opened = opened + 1
      return server
    end}
  end
  for _, operation in ipairs(linkbench.mix) do operation[2] = operation[1] == "updatenode" and 100 or 0 end
  own.init()
  own.thread_init(0)
  local first, after = #sent, nil
  local worked, why = pcall(own.event)
  assert(not worked and why.errcode == sysbench.error.RESTART_EVENT, "no restart")
  sysbench.hooks.before_restart_event(why)
  own.event()
  after = sent[first + 3] == sent[first + 1] and sent[first + 2] == "ROLLBACK"
  own.event()
  print(('"connections": %d, "again": %s, "other": %s'):format(opened, tostring(after),
    tostring(sent[first + 5] ~= sent[first + 1])))
end

function event()
  math.randomseed(1)
  print("{")
  PRINT[os.getenv("DRAWN")]()
  print("}")
  return true
end
