-- A stand-in for a benchmark of the user's: shaped as such are, with modules beside it, a prepare of its own, and
-- options of its own but no --table_size.
require("tpcc_like_tables")
require("tpcc_like_sales")

function thread_init()
  connection = sysbench.sql.driver():connect()
end

function event()
  local set = sysbench.rand.uniform(1, sysbench.opt.tables)
  local warehouse = sysbench.rand.uniform(1, sysbench.opt.scale)
  connection:query("BEGIN")
  if sysbench.rand.uniform(1, 2) == 1 then
    new_order(set, warehouse)
  else
    payment(set, warehouse)
  end
  connection:query("COMMIT")
end

function thread_done()
  connection:disconnect()
end
