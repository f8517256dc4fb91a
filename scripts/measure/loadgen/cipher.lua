-- Connects once and prints the row of the query in CIPHER_QUERY: how this connection is encrypted.
local function cipher()
   local connection = sysbench.sql.driver():connect()
   local result = connection:query(os.getenv("CIPHER_QUERY"))
   for _ = 1, result.nrows do
      local row = result:fetch_row()
      print("CIPHER " .. tostring(row[1]) .. " " .. tostring(row[2]))
   end
   connection:disconnect()
end

sysbench.cmdline.commands = { cipher = { cipher } }
