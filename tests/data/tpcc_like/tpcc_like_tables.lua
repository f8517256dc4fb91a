DISTRICTS = 10

sysbench.cmdline.options = {
  scale = {"Warehouses in each set of tables", 1},
  tables = {"Sets of tables", 1}
}

local function create(connection, set)
  connection:query("CREATE TABLE warehouse" .. set .. " (id INTEGER PRIMARY KEY, paid INTEGER NOT NULL)")
  connection:query("CREATE TABLE district" .. set ..
    " (warehouse INTEGER, id INTEGER, next_order INTEGER NOT NULL, PRIMARY KEY (warehouse, id))")
  for warehouse = 1, sysbench.opt.scale do
    connection:query("INSERT INTO warehouse" .. set .. " VALUES (" .. warehouse .. ", 0)")
    for id = 1, DISTRICTS do
      connection:query("INSERT INTO district" .. set .. " VALUES (" .. warehouse .. ", " .. id .. ", 1)")
    end
  end
end

function prepare()
  local connection = sysbench.sql.driver():connect()
  for set = sysbench.tid % sysbench.opt.threads + 1, sysbench.opt.tables, sysbench.opt.threads do
    create(connection, set)
  end
end

sysbench.cmdline.commands = {
  prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND}
}
