-- One event: 50 rows of the Insert Benchmark in one INSERT statement, the rows made with
-- sysbench.rand and string.format, as sysbench's own scripts make theirs.
--
-- At its end each thread prints the CPU time of the process and the number of its statements since
-- it was connected: the window in which the bench measures backslide.

local ffi = require("ffi")

ffi.cdef [[
   typedef struct { long tv_sec; long tv_nsec; } bench_timespec;
   int clock_gettime(int clock, bench_timespec *time);
]]

sysbench.cmdline.options = {
   table = {"Table to insert into", "pi1"},
   rows = {"Rows of a statement", 50}
}

-- CLOCK_PROCESS_CPUTIME_ID of Linux.
local PROCESS_CPU = 2

local function process_cpu()
   local time = ffi.new("bench_timespec")
   ffi.C.clock_gettime(PROCESS_CPU, time)
   return tonumber(time.tv_sec) * 1e9 + tonumber(time.tv_nsec)
end

-- `data` by its length: filler, then a random part of the same share as in the benchmark.
-- sysbench.rand.string puts a random letter in the place of each @.
local DATA = {}
for length = 10, 20 do
   local random = math.floor(length * 3 * 50 / 400)
   DATA[length] = string.rep("a", length - random) .. string.rep("@", random)
end

function thread_init()
   con = sysbench.sql.driver():connect()
   head = "INSERT INTO " .. sysbench.opt.table ..
      " (dateandtime,cashregisterid,customerid,productid,price,data) VALUES "
   statements = 0
   cpu = process_cpu()
end

function event()
   local random = sysbench.rand.uniform
   local letters = sysbench.rand.string
   local format = string.format
   local date = os.date("%Y-%m-%d %H:%M:%S")
   local rows = {}
   for row = 1, sysbench.opt.rows do
      rows[row] = format("('%s',%d,%d,%d,%d.00,'%s')", date, random(0, 999), random(0, 99999),
         random(0, 9999), random(0, 499), letters(DATA[random(10, 20)]))
   end
   con:query(head .. table.concat(rows, ","))
   statements = statements + 1
end

function thread_done()
   print(string.format("bench: cpu_ns=%.0f statements=%d", process_cpu() - cpu, statements))
   con:disconnect()
end
