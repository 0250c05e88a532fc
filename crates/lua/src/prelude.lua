-- The interface of sysbench 1.0.20 for scripts, and the names of 0.5. `native` is what the program offers:
-- connections, random numbers, options that are given, and where text goes.
local native = ...
ffi = require("ffi")
local debug = debug

local mine = debug.getinfo(1, "S").source

-- Raises an error with the place in the script that called.
local function fail(message)
   local level = 1
   repeat
      level = level + 1
      local info = debug.getinfo(level, "S")
   until info == nil or (info.what ~= "C" and info.source ~= mine)
   error(message, level)
end

sysbench = {
   tid = native.tid,
   version = "1.0.20",
   version_string = "sysbench 1.0.20 (backslide)",
   hooks = {},
   opt = {},
   error = { NONE = 0, RESTART_EVENT = 1 },
   cmdline = {
      command = native.command, script_path = native.path, argv = { [0] = "sysbench", native.path, native.command },
      PARALLEL_COMMAND = true,
      ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5, ARG_LIST = 6,
      ARG_FILE = 7, ARG_MAX = 8,
   },
   sql = {
      type = {
         NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8,
         DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
      },
      error = { NONE = 0, IGNORABLE = 1, FATAL = 2 },
   },
   rand = native.rand,
}

-- Scripts choose among these for a hook; what they would print is in backslide's own reports.
function sysbench.report_default() end
sysbench.report_csv, sysbench.report_json = sysbench.report_default, sysbench.report_default

function sysbench.rand.uniform_uint64()
   local high, low = native.word()
   return ffi.cast("uint64_t", high) * 4294967296ULL + low
end

-- What a script prints is a note of its step; standard output belongs to the program.
function print(...)
   local texts = {}
   for i = 1, select("#", ...) do
      texts[i] = tostring((select(i, ...)))
   end
   native.print(table.concat(texts, "\t"))
end

function io.write(...)
   native.print(table.concat({ ... }))
   return io.stdout
end

function os.exit()
   fail("the script calls os.exit(); use error() to end with a message")
end

-- Statements

local Connection, Statement, Param, Result = {}, {}, {}, {}
Connection.__index, Statement.__index, Param.__index, Result.__index = Connection, Statement, Param, Result
local types = sysbench.sql.type
local is_text = { [types.CHAR] = true, [types.VARCHAR] = true, [types.DATE] = true, [types.DATETIME] = true,
   [types.TIME] = true, [types.TIMESTAMP] = true }

local function raise(con, query, code, message, ignorable)
   local state = sysbench.sql.error
   con.error = ignorable and state.IGNORABLE or state.FATAL
   con.sql_errno, con.sql_state, con.sql_errmsg = tonumber(code) or 0, code, message
   local description = { connection = con, query = query, sql_errno = con.sql_errno, sql_state = code,
      sql_errmsg = message }
   local hook = sysbench.hooks.sql_error_ignorable
   if ignorable or (type(hook) == "function" and hook(description)) then
      description.errcode = sysbench.error.RESTART_EVENT
      error(description, 0)
   end
   fail(message)
end

local function answer(con, query, fields, rows, message, ignorable)
   if fields == false then
      raise(con, query, rows, message, ignorable)
   end
   con.error = 0
   if fields then
      local result = con.result
      result.nrows, result.nfields = rows, fields
      return result
   end
   return nil
end

function Connection:query(text)
   return answer(self, text, self.native:query(text))
end

function Connection:query_row(text)
   local result = self:query(text)
   local row = result and result:fetch_row()
   if row then
      return unpack(row, 1, result.nfields)
   end
   return nil
end

function Connection:disconnect()
   self.native:disconnect()
   return true
end

function Connection:reconnect()
   answer(self, "reconnect", self.native:reconnect())
   for statement in pairs(self.statements) do
      statement.place = nil
   end
   return true
end

-- As large as sysbench's.
local BULK_BYTES = 512 * 1024

function Connection:bulk_insert_init(text)
   self.bulk = { begin = text, bytes = #text, rows = {} }
end

local function insert(con)
   local bulk = con.bulk
   if #bulk.rows > 0 then
      con:query(bulk.begin .. table.concat(bulk.rows, ","))
      bulk.rows, bulk.bytes = {}, #bulk.begin
   end
end

function Connection:bulk_insert_next(values)
   local bulk = self.bulk
   if bulk == nil then
      fail("bulk_insert_next() without bulk_insert_init()")
   end
   local comma = #bulk.rows > 0 and 1 or 0
   if bulk.bytes + #values + 1 + comma > BULK_BYTES then
      insert(self)
      comma = 0
   end
   bulk.rows[#bulk.rows + 1] = values
   bulk.bytes = bulk.bytes + #values + comma
   return 0
end

function Connection:bulk_insert_done()
   if self.bulk then
      insert(self)
      self.bulk = nil
   end
   return 0
end

-- Parameters that are known later decide when the server prepares it.
local function prepare(statement)
   if native.driver == "pgsql" then
      -- sysbench draws the name of the statement, and the next numbers follow.
      native.word()
      native.word()
   end
   local place, code, message, ignorable = statement.con.native:prepare(statement.text, unpack(statement.types))
   if place == false then
      raise(statement.con, statement.text, code, message, ignorable)
   end
   statement.place, statement.as_text = place, place == nil
end

function Connection:prepare(text)
   local statement = setmetatable({ con = self, connection = self, text = text, params = {}, types = {}, values = {},
      as_text = sysbench.opt.db_ps_mode == "disable" }, Statement)
   if not statement.as_text and not text:find("?", 1, true) then
      prepare(statement)
   end
   self.statements[statement] = true
   return statement
end

function Statement:bind_create(kind, length)
   if type(kind) ~= "number" or kind < types.TINYINT or kind > types.VARCHAR then
      fail("Unsupported argument type: " .. tostring(kind))
   end
   return setmetatable({ type = kind, max_len = length }, Param)
end

function Statement:bind_param(...)
   self.params, self.types = { ... }, {}
   for i, param in ipairs(self.params) do
      self.types[i] = param.type
   end
   if not self.as_text then
      prepare(self)
   end
end

function Param:set(value)
   if value == nil then
      self.value = nil
      return
   end
   if is_text[self.type] then
      value = tostring(value)
      if self.max_len and #value > self.max_len then
         value = value:sub(1, self.max_len)
      end
   elseif type(value) == "cdata" then
      value = tonumber(value)
   end
   self.value = value
end

function Param:set_rand_str(format)
   self.value = sysbench.rand.string(format)
end

local function literal(param)
   if param.value == nil then
      return "NULL"
   end
   return is_text[param.type] and "'" .. param.value .. "'" or tostring(param.value)
end

local function as_text(statement)
   local i = 0
   return (statement.text:gsub("%?", function()
      i = i + 1
      return literal(statement.params[i])
   end))
end

function Statement:execute()
   local con = self.con
   local params, values = self.params, self.values
   local count, has_null = #params, false
   for i = 1, count do
      local value = params[i].value
      values[i], has_null = value, has_null or value == nil
   end
   -- Our prepared statements take no NULL.
   if self.as_text or has_null then
      return con:query(as_text(self))
   end
   if self.place == nil then
      prepare(self)
   end
   return answer(con, self.text, con.native:execute(self.place, unpack(values, 1, count)))
end

function Statement:close()
   self.place = nil
   return true
end

function Result:fetch_row()
   return self.con.native:fetch()
end

function Result:free()
   return true
end

local Driver = {}
Driver.__index = Driver

function Driver:name()
   return native.driver
end

function Driver:connect()
   local session, message = native.connect()
   if session == nil then
      fail("connection creation failed: " .. message)
   end
   local con = setmetatable({ native = session, error = 0, statements = setmetatable({}, { __mode = "k" }) }, Connection)
   con.result = setmetatable({ con = con, nrows = 0, nfields = 0 }, Result)
   return con
end

function sysbench.sql.driver()
   return setmetatable({}, Driver)
end

-- Histograms of a script's own numbers, each place as wide as the one before it times the same factor

local Histogram = {}
Histogram.__index = Histogram
sysbench.histogram = {}

function sysbench.histogram.new(size, low, high)
   if not (size > 1 and low > 0 and high > low) then
      fail("sysbench.histogram.new(size, low, high) wants two places or more and 0 < low < high")
   end
   local places = {}
   for i = 1, size do
      places[i] = 0
   end
   local begin = math.log(low)
   return setmetatable({ places = places, begin = begin, factor = (size - 1) / (math.log(high) - begin) }, Histogram)
end

function Histogram:update(value)
   local place = math.floor((math.log(value) - self.begin) * self.factor + 0.5)
   place = math.max(1, math.min(#self.places, place + 1))
   self.places[place] = self.places[place] + 1
end

function Histogram:print()
   local most = math.max(unpack(self.places))
   print("       value  ------------- distribution ------------- count")
   for place, count in ipairs(self.places) do
      if count > 0 then
         local value = math.exp((place - 1) / self.factor + self.begin)
         print(("%12.3f |%-40s %d"):format(value, ("*"):rep(math.floor(count / most * 40 + 0.5)), count))
      end
   end
end

-- Names of 0.5

thread_id, test = native.tid, native.path
sb_rand, sb_rand_uniform, sb_rand_gaussian = sysbench.rand.default, sysbench.rand.uniform, sysbench.rand.gaussian
sb_rand_special, sb_rand_uniq, sb_rand_str = sysbench.rand.special, sysbench.rand.unique, sysbench.rand.string
sb_rnd = sysbench.rand.uniform_uint64

local legacy
local function connection()
   legacy = legacy or sysbench.sql.driver():connect()
   return legacy
end

function db_connect()
   legacy = sysbench.sql.driver():connect()
end

function db_disconnect()
   connection():disconnect()
end

for _, name in ipairs({ "query", "bulk_insert_init", "bulk_insert_next", "bulk_insert_done", "prepare" }) do
   _G["db_" .. name] = function(text)
      local con = connection()
      return con[name](con, text)
   end
end

-- A table of type and value for each parameter; the values are read at each execution.
function db_bind_param(statement, binds)
   local params = {}
   for i, bind in ipairs(binds) do
      params[i] = setmetatable({ type = bind.type }, { __index = function(_, key)
         return key == "value" and bind.value or nil
      end })
   end
   statement:bind_param(unpack(params))
end

function db_execute(statement)
   return statement:execute()
end

function db_close(statement)
   return statement:close()
end

function db_store_results() end
db_free_results, db_bind_result = db_store_results, db_store_results

-- Functions of C that scripts call

ffi.cdef([[
typedef enum { SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_EVENT, SB_CNT_ERROR, SB_CNT_RECONNECT } sb_counter_type;
]])
local real = ffi.C
local functions = {
   sb_counter_inc = function(_, counter)
      native.count(tonumber(counter))
   end,
}
for name, random in pairs(sysbench.rand) do
   functions["sb_rand_" .. name] = random
end
ffi.C = setmetatable(functions, { __index = function(_, name)
   return real[name]
end })

-- What the program calls

local units = { K = 1024, M = 1024 ^ 2, G = 1024 ^ 3, T = 1024 ^ 4 }
local yes = { on = true, ["true"] = true, ["1"] = true, off = false, ["false"] = false, ["0"] = false }

local function number(text, name)
   local digits, unit = tostring(text):match("^%s*([^%s]-)([KMGTkmgt]?)%s*$")
   local value = tonumber(digits)
   if value == nil then
      error(("option `%s`: `%s` is not a number"):format(name, text), 0)
   end
   return value * (units[unit:upper()] or 1)
end

local convert = {
   boolean = function(text, name)
      local value = yes[tostring(text):lower()]
      if value == nil then
         error(("option `%s`: `%s` is neither on nor off"):format(name, text), 0)
      end
      return value
   end,
   number = number,
   string = tostring,
   table = function(text)
      if type(text) == "table" then
         return text
      end
      local list = {}
      for one in tostring(text):gmatch("[^,]+") do
         list[#list + 1] = one
      end
      return list
   end,
}
local kinds = { [1] = "boolean", [2] = "number", [3] = "number", [4] = "number", [5] = "string", [6] = "table",
   [7] = "string" }

local function plain(name)
   return (name:gsub("%-", "_"))
end

-- Each option that is known: its usual value, and the kind of its values.
local function known(declared)
   local options = {}
   for name, value in pairs(native.usual) do
      options[name] = { value, type(value) }
   end
   for name, definition in pairs(declared or {}) do
      local usual = definition[2]
      local kind = kinds[definition[3]] or (usual == nil and "string") or type(usual)
      if usual == nil and kind == "string" then
         usual = ""
      end
      options[plain(name)] = { usual, kind }
   end
   return options
end

local program = {}

-- Sets `sysbench.opt`; a script without options of its own has them as globals, and may be given any.
function program.options()
   local declared = sysbench.cmdline.options or sysbench.option_defs
   local options = known(declared)
   for name, text in pairs(native.given) do
      name = plain(name)
      if options[name] == nil then
         if declared then
            error(("%s has no option `%s`%s"):format(native.path, name, native.nearest(name, options)), 0)
         end
         options[name] = { text, "string" }
      end
      options[name][1] = text
   end
   for name, option in pairs(options) do
      local value = option[1]
      if value ~= nil then
         value = convert[option[2]](value, name)
      end
      sysbench.opt[name] = value
      if not declared and _G[name] == nil then
         _G[name] = value
      end
   end
end

local function given_as(value)
   if type(value) == "boolean" then
      return value and "on" or "off"
   end
   return type(value) == "table" and table.concat(value, ",") or tostring(value)
end

-- The options that the script declares: name, usual value and meaning of each.
function program.declared()
   local rows = {}
   for name, definition in pairs(sysbench.cmdline.options or sysbench.option_defs or {}) do
      local usual = definition[2] ~= nil and given_as(definition[2]) or ""
      rows[#rows + 1] = { "--" .. name:gsub("_", "-"), usual, tostring(definition[1]) }
   end
   table.sort(rows, function(a, b) return a[1] < b[1] end)
   return rows
end

-- Calls a function of the script; false where it has none.
function program.call(name)
   local called = _G[name]
   if type(called) ~= "function" then
      return false
   end
   called(native.tid)
   return true
end

function program.report(name, stat)
   local hook = sysbench.hooks[name]
   if type(hook) == "function" then
      hook(stat)
   end
end

local function command(name)
   local own = sysbench.cmdline.commands and sysbench.cmdline.commands[name]
   return own and own[1] or _G[name], own and own[2] or false
end

-- Is there such a command, and do all clients run it?
function program.has(name)
   local called, parallel = command(name)
   return type(called) == "function", parallel
end

function program.command(name)
   if command(name)() == false then
      error(("%s: the command `%s` failed"):format(native.path, name), 0)
   end
end

-- A script's own loop over events gives control back at the end of each.
local loop

function functions.sb_more_events()
   return true
end

function functions.sb_event_start() end

function functions.sb_event_stop()
   coroutine.yield()
end

local function next_of_loop()
   loop = loop or coroutine.create(thread_run)
   local fine, message = coroutine.resume(loop, native.tid)
   if not fine then
      error(message, 0)
   end
   return coroutine.status(loop) == "dead" and 1 or 0
end

-- Runs one event: 0, or 1 where it says that none follows, or 2 and the code of the error after which it begins anew.
function program.event()
   if thread_run then
      return next_of_loop()
   end
   local done, value = pcall(event, native.tid)
   if done then
      return value and 1 or 0
   end
   if type(value) ~= "table" or value.errcode ~= sysbench.error.RESTART_EVENT then
      error(value == "not enough memory" and native.path .. ": " .. native.no_memory or value, 0)
   end
   local hook = sysbench.hooks.before_restart_event
   if type(hook) == "function" then
      hook(value)
   end
   return 2, value.sql_state
end

return program
