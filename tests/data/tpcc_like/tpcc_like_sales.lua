function new_order(set, warehouse)
  connection:query("UPDATE district" .. set .. " SET next_order = next_order + 1 WHERE warehouse = " .. warehouse ..
    " AND id = " .. sysbench.rand.uniform(1, DISTRICTS))
end

function payment(set, warehouse)
  connection:query("UPDATE warehouse" .. set .. " SET paid = paid + 1 WHERE id = " .. warehouse)
  connection:query("SELECT paid FROM warehouse" .. set .. " WHERE id = " .. warehouse)
end
