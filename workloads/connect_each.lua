-- An application that keeps no connection: each event connects, reads a row by its primary key, and disconnects.

sysbench.cmdline.options = {
   tables = {"Number of tables", 1},
   table_size = {"Rows of each table", 10000},
}

local driver

function thread_init()
   driver = sysbench.sql.driver()
end

function event()
   local table_number = sysbench.rand.uniform(1, sysbench.opt.tables)
   local id = sysbench.rand.uniform(1, sysbench.opt.table_size)
   local connection = driver:connect()
   connection:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", table_number, id))
   connection:disconnect()
end
