-- Prints what linkbench.lua draws, as JSON; sysbench runs it without a server.
dofile(os.getenv("LINKBENCH"))
init, thread_init, thread_done, done = nil, nil, nil, nil
local n, draws = 1000, 40000

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

function event()
  math.randomseed(1)
  local there, back = linkbench.permutation(n, 0.618)
  local graph = linkbench.graph()
  local function both(id) return graph.links(id, 0) + graph.links(id, 1) end
  local function length(kind) return function() return #linkbench.payload(kind) end end
  print(("{\"permutation\": %s, \"inverse\": %s,"):format(list(0, n - 1, there), list(0, n - 1, back)))
  print(("\"zipf\": %s,"):format(counted(linkbench.zipf(n, 0.8), draws)))
  print(("\"geometric\": %s,"):format(counted(function() return linkbench.geometric(0.382, 128) end, draws)))
  print(("\"links\": %s,"):format(list(1, sysbench.opt.ids, both)))
  print(("\"link_read\": %s, \"link_write\": %s, \"node_delete\": %s,"):format(
    counted(graph.link_read, draws), counted(graph.link_write, draws), counted(graph.node_delete, draws)))
  print(("\"link_data\": %s, \"node_data\": %s, \"sample\": \"%s\"}"):format(
    counted(length(linkbench.link_data), draws), counted(length(linkbench.node_data), draws),
    linkbench.payload({median = 4000, longest = 8000, fresh = 0.63, first = 40, last = 126})))
  return true
end
