-- Rows in bulk: every client of every call fills a table of its own, which it makes when it connects.
-- An event is a row of two numbers; sysbench sends as many of them in one INSERT as half a megabyte holds.

local ffi = require("ffi")
ffi.cdef("int getpid(void);")

-- Every script is told the measures of its dataset; this one has no use for them.
sysbench.cmdline.options = {
   tables = {"Number of tables of the dataset, which are left alone", 1},
   table_size = {"Rows of each of them", 1},
}

local connection, own_table, rows

function thread_init()
   connection = sysbench.sql.driver():connect()
   own_table = string.format("bulk_%d_%d", ffi.C.getpid(), sysbench.tid)
   rows = 0
   connection:query("CREATE TABLE " .. own_table .. " (id INTEGER NOT NULL PRIMARY KEY, k INTEGER NOT NULL)")
   connection:bulk_insert_init("INSERT INTO " .. own_table .. " (id, k) VALUES")
end

function event()
   rows = rows + 1
   connection:bulk_insert_next(string.format("(%d, %d)", rows, rows))
end

function thread_done()
   connection:bulk_insert_done()
   connection:disconnect()
end
