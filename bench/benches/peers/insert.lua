-- One event: rows of sysbench's own table in one INSERT statement, made with sysbench.rand and
-- string.format, as sysbench's own scripts make theirs.

sysbench.cmdline.options = {
   rows = {"Rows of a statement", 50}
}

local C = string.rep("###########", 10, "-")
local PAD = string.rep("###########", 5, "-")

function thread_init()
   con = sysbench.sql.driver():connect()
end

function event()
   local random = sysbench.rand.uniform
   local digits = sysbench.rand.string
   local format = string.format
   local rows = {}
   for row = 1, sysbench.opt.rows do
      rows[row] = format("(%d, '%s', '%s')", random(1, 1000000), digits(C), digits(PAD))
   end
   con:query("INSERT INTO sbtest1 (k, c, pad) VALUES " .. table.concat(rows, ","))
end

function thread_done()
   con:disconnect()
end
