-- The interface of sysbench 1.0.20 for scripts, and the names of 0.5. `native` is what the program offers:
-- connections, random numbers, options that are given, and where text goes.
local native = ...
local ffi = require("ffi")
_G.ffi = ffi
-- A script may have globals of these names.
local debug, math, table = debug, math, table
local error, ipairs, pairs, pcall, select, setmetatable = error, ipairs, pairs, pcall, select, setmetatable
local tonumber, tostring, type, unpack = tonumber, tostring, type, unpack

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
   rand = {},
}

-- Scripts choose among these for a hook; what they would print is in backslide's own reports.
function sysbench.report_default() end
sysbench.report_csv, sysbench.report_json = sysbench.report_default, sysbench.report_default

-- Functions of the program. LuaJIT compiles such calls, but none of a function that is not called through `ffi`.
local function native_function(kind, name)
   return ffi.cast(kind, native.addresses[name])
end

local copy, string_of = ffi.copy, ffi.string
local Bytes = ffi.typeof("char[?]")

local function number_of(value)
   return tonumber(value) or fail("a number is expected, not a " .. type(value))
end

local function text_of(value)
   local kind = type(value)
   if kind ~= "string" and kind ~= "number" then
      fail("a text is expected, not a " .. kind)
   end
   return tostring(value)
end

-- Random numbers

local random = ffi.cast("void *", native.random)
local draw = native_function("uint32_t (*)(void *, size_t, uint32_t, uint32_t)", "draw")
local unique = native_function("uint32_t (*)(void *)", "unique")
local unit = native_function("double (*)(void *)", "unit")
local word = native_function("uint64_t (*)(void *)", "word")
local fill = native_function("void (*)(void *, char *, size_t)", "fill")
local fill_varied = native_function("void (*)(void *, char *, size_t)", "fill_varied")

-- The first of `native.laws`.
local UNIFORM = 0

local function drawn(law)
   return function(low, high)
      return draw(random, law, number_of(low), number_of(high))
   end
end

for i, name in ipairs(native.laws) do
   sysbench.rand[name] = drawn(i - 1)
end
-- The law that `rand_type` names.
sysbench.rand.default = drawn(#native.laws)

function sysbench.rand.unique()
   return unique(random)
end

function sysbench.rand.uniform_double()
   return unit(random)
end

function sysbench.rand.uniform_uint64()
   return word(random)
end

-- A random digit for each `#`, and a random letter for each `@`.
function sysbench.rand.string(format)
   format = text_of(format)
   local bytes = Bytes(#format)
   copy(bytes, format, #format)
   fill(random, bytes, #format)
   return string_of(bytes, #format)
end

function sysbench.rand.varstring(least, most)
   least, most = number_of(least), number_of(most)
   local length = draw(random, UNIFORM, math.min(least, most), most)
   local bytes = Bytes(length)
   fill_varied(random, bytes, length)
   return string_of(bytes, length)
end

-- What a script prints is a note of its step; standard output belongs to the program.
local stdout = {}
io.stdout = stdout

function stdout:write(...)
   native.print(table.concat({ ... }))
   return self
end

function stdout:flush()
   return self
end

function stdout:setvbuf()
   return true
end

function io.write(...)
   return stdout:write(...)
end

function print(...)
   local texts = {}
   for i = 1, select("#", ...) do
      texts[i] = tostring((select(i, ...)))
   end
   stdout:write(table.concat(texts, "\t"), "\n")
end

function os.execute(command)
   -- Without a command: is there a shell?
   return command == nil and 1 or native.execute(command)
end

function os.exit()
   fail("the script calls os.exit(); use error() to end with a message")
end

-- Statements

local Connection, Statement, Param, Result = {}, {}, {}, {}
Connection.__index, Statement.__index, Param.__index, Result.__index = Connection, Statement, Param, Result
local types = sysbench.sql.type
local is_int = { [types.TINYINT] = true, [types.SMALLINT] = true, [types.INT] = true, [types.BIGINT] = true }
local is_text = { [types.CHAR] = true, [types.VARCHAR] = true, [types.DATE] = true, [types.DATETIME] = true,
   [types.TIME] = true, [types.TIMESTAMP] = true }

-- How a statement ended, and what it returned.
local ROWS, FAILED, AS_TEXT = 1, 2, 3
local returned = ffi.new("struct { double rows; uint32_t fields; }")
local send = native_function("int (*)(void *, const char *, size_t, void *)", "query")
local execute = native_function("int (*)(void *, size_t, void *, size_t, void *)", "execute")

-- The value of a parameter: its number where that is its type, otherwise its text.
local Slot = ffi.typeof("struct { int64_t number; char *text; size_t length; uint8_t is_set; }")
local Slots = ffi.typeof("$ *[?]", Slot)

-- In place of a result: as sysbench's NULL, it equals nil, but is true.
local NO_ROWS = ffi.cast("void *", nil)

-- Raises the error of the last statement, if it had one.
function Connection:check_error(result, query)
   local state = sysbench.sql.error
   if result ~= nil or self.error == state.NONE then
      return result
   end
   local description = { connection = self, query = query, sql_errno = self.sql_errno, sql_state = self.sql_state,
      sql_errmsg = self.sql_errmsg, code = self.code }
   local hook = sysbench.hooks.sql_error_ignorable
   if self.error == state.IGNORABLE or (type(hook) == "function" and hook(description)) then
      description.errcode = sysbench.error.RESTART_EVENT
      error(description, 0)
   end
   fail(self.text)
end

local function raise(con, query, number, sql_state, message, text, code, ignorable)
   local state = sysbench.sql.error
   con.error = ignorable and state.IGNORABLE or state.FATAL
   con.sql_errno, con.sql_state, con.sql_errmsg = number, sql_state, message
   con.text, con.code = text, code
   con:check_error(nil, query)
end

local function answer(con, query, how)
   if how == FAILED then
      raise(con, query, con.native:failure())
   end
   con.error = 0
   if how == ROWS then
      local result = con.result
      result.nrows, result.nfields = returned.rows, returned.fields
      return result
   end
   return NO_ROWS
end

function Connection:query(text)
   text = text_of(text)
   return answer(self, text, send(self.channel, text, #text, returned))
end

function Connection:query_row(text)
   local result = self:query(text)
   local row = result ~= nil and result:fetch_row()
   if row then
      return unpack(row, 1, result.nfields)
   end
   return nil
end

function Connection:disconnect()
   self.native:disconnect()
   return true
end

-- Of `sb_counter_type`.
local RECONNECT = 5

function Connection:reconnect()
   if not self.native:reconnect() then
      raise(self, "reconnect", self.native:failure())
   end
   for statement in pairs(self.statements) do
      statement.place = nil
   end
   native.count(RECONNECT)
   return true
end

-- As large as sysbench's.
local BULK_BYTES = 512 * 1024

function Connection:bulk_insert_init(text)
   self.bulk = { begin = text, bytes = #text, rows = {} }
   return true
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
   return true
end

function Connection:bulk_insert_done()
   if self.bulk then
      insert(self)
      self.bulk = nil
   end
   return true
end

-- Parameters that are known later decide when the server prepares it.
local function prepare(statement)
   if native.driver == "pgsql" then
      -- sysbench draws the name of the statement, and the next numbers follow.
      word(random)
      word(random)
   end
   local session = statement.con.native
   local place = session:prepare(statement.text, unpack(statement.types))
   if place == false then
      raise(statement.con, statement.text, session:failure())
   end
   statement.place, statement.as_text = place, place == nil
end

function Connection:prepare(text)
   local statement = setmetatable({ con = self, connection = self, text = text, params = {}, types = {}, count = 0,
      slots = Slots(1), as_text = sysbench.opt.db_ps_mode == "disable" }, Statement)
   if not statement.as_text and not text:find("?", 1, true) then
      prepare(statement)
   end
   self.statements[statement] = true
   return statement
end

-- As in sysbench, it is zero or an empty text until it is set.
local function new_param(kind, length)
   local param = setmetatable({ type = kind, max_len = length, slot = Slot(), size = 0 }, Param)
   if kind <= types.DOUBLE then
      param:set(0)
   elseif kind >= types.CHAR then
      param:set("")
   end
   return param
end

function Statement:bind_create(kind, length)
   if type(kind) ~= "number" or kind < types.TINYINT or kind > types.VARCHAR then
      fail("Unsupported argument type: " .. tostring(kind))
   end
   return new_param(kind, length)
end

function Statement:bind_param(...)
   self.params, self.types = { ... }, {}
   self.count = #self.params
   self.slots = Slots(self.count + 1)
   for i, param in ipairs(self.params) do
      self.types[i], self.slots[i - 1] = param.type, param.slot
   end
   if self.count > 0 and not self.as_text then
      prepare(self)
   end
end

-- The bytes of a parameter, with room for so many.
local function room(param, length)
   if length >= param.size then
      param.size = math.max(length, param.max_len or 0) + 1
      param.bytes = Bytes(param.size)
      param.slot.text = param.bytes
   end
   param.slot.length = length
   return param.bytes
end

local function set_int(param, value)
   local kind = type(value)
   if kind ~= "number" and kind ~= "cdata" then
      value = kind == "string" and tonumber(value) or fail("an integer parameter was set to a " .. kind)
   end
   param.slot.number = value
end

-- A number without the digits that it does not need.
local function shortest(number)
   local text = tostring(number)
   return tonumber(text) == number and text or ("%.17g"):format(number)
end

local function set_text(param, value)
   if not is_text[param.type] and type(value) == "cdata" then
      value = tonumber(value)
   end
   value = type(value) == "number" and shortest(value) or tostring(value)
   local length = math.min(#value, param.max_len or #value)
   copy(room(param, length), value, length)
end

function Param:set(value)
   self.slot.is_set = value == nil and 0 or 1
   if value == nil then
      return
   end
   if is_int[self.type] then
      set_int(self, value)
   else
      set_text(self, value)
   end
end

function Param:set_rand_str(format)
   format = text_of(format)
   if is_int[self.type] then
      return self:set(sysbench.rand.string(format))
   end
   local bytes = room(self, #format)
   copy(bytes, format, #format)
   fill(random, bytes, #format)
   self.slot.is_set = 1
end

local function literal(param)
   local slot = param.slot
   if slot.is_set == 0 then
      return "NULL"
   end
   if is_int[param.type] then
      return (tostring(slot.number):gsub("LL$", ""))
   end
   local text = string_of(slot.text, slot.length)
   return is_text[param.type] and "'" .. text .. "'" or text
end

local function as_text(statement)
   if statement.count == 0 then
      return statement.text
   end
   local i = 0
   return (statement.text:gsub("%?", function()
      i = i + 1
      return literal(statement.params[i])
   end))
end

function Statement:execute()
   local con = self.con
   if not self.as_text and self.place == nil then
      prepare(self)
   end
   local how = AS_TEXT
   if not self.as_text then
      how = execute(con.channel, self.place, self.slots, self.count, returned)
   end
   if how == AS_TEXT then
      return con:query(as_text(self))
   end
   local result = answer(con, self.text, how)
   if result == nil then
      -- As in sysbench, a prepared statement always has a result.
      result = con.result
      result.nrows, result.nfields = 0, 0
   end
   return result
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
   local session, channel, message = native.connect()
   if session == nil then
      fail("connection creation failed: " .. message)
   end
   local con = setmetatable({ native = session, channel = ffi.cast("void *", channel), error = 0,
      statements = setmetatable({}, { __mode = "k" }) }, Connection)
   con.result = setmetatable({ con = con, nrows = 0, nfields = 0 }, Result)
   return con
end

function sysbench.sql.driver(name)
   if name ~= nil and name ~= native.driver then
      fail(("there is no driver `%s`: the system's is `%s`"):format(tostring(name), native.driver))
   end
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
   -- sysbench draws a place for it; the next numbers follow.
   word(random)
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
sb_rand_special, sb_rand_str = sysbench.rand.special, sysbench.rand.string
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2
mysql_table_engine = native.given.mysql_table_engine or "innodb"
myisam_max_rows = tonumber(native.given.myisam_max_rows) or 1000000

function sb_rnd()
   return tonumber(word(random) % 2 ^ 32)
end

-- As sysbench: takes the next one that is in the range, and never ends where all of them were taken.
function sb_rand_uniq(low, high)
   local number
   repeat
      number = unique(random)
   until number >= low and number <= high
   return number
end

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
   legacy = nil
end

for _, name in ipairs({ "query", "bulk_insert_init", "bulk_insert_next", "bulk_insert_done", "prepare" }) do
   _G["db_" .. name] = function(text)
      local con = connection()
      return con[name](con, text)
   end
end

-- A value for each parameter, or a table of its type and value; they are read again at each execution.
function db_bind_param(statement, binds)
   local params = {}
   for i, bind in ipairs(binds) do
      local usual = type(bind) == "number" and types.BIGINT or types.VARCHAR
      params[i] = new_param(type(bind) == "table" and bind.type or usual)
   end
   statement.binds = binds
   statement:bind_param(unpack(params))
end

function db_execute(statement)
   for i, param in ipairs(statement.params) do
      local bind = statement.binds[i]
      if type(bind) == "table" then
         bind = bind.value
      end
      param:set(bind)
   end
   return statement:execute()
end

function db_close(statement)
   return statement:close()
end

function db_store_results() end
db_free_results, db_bind_result = db_store_results, db_store_results

sysbench.db = {
   connect = db_connect, disconnect = db_disconnect, query = db_query, bulk_insert_init = db_bulk_insert_init,
   bulk_insert_next = db_bulk_insert_next, bulk_insert_done = db_bulk_insert_done, prepare = db_prepare,
   bind_param = db_bind_param, bind_result = db_bind_result, execute = db_execute, close = db_close,
   store_results = db_store_results, free_results = db_free_results, DB_ERROR_NONE = DB_ERROR_NONE,
   DB_ERROR_RESTART_TRANSACTION = DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = DB_ERROR_FAILED,
}

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

function functions.sb_rand_str(format, buffer)
   format = type(format) == "string" and format or string_of(format)
   copy(buffer, format, #format)
   fill(random, ffi.cast("char *", buffer), #format)
end

ffi.C = setmetatable(functions, { __index = function(_, name)
   return real[name]
end })

-- What the program calls

local units = { K = 1024, M = 1024 ^ 2, G = 1024 ^ 3, T = 1024 ^ 4 }
local yes = { on = true, ["true"] = true, ["1"] = true, off = false, ["false"] = false, ["0"] = false }

local function number(text, name)
   return tonumber(text) or error(("option `%s`: `%s` is not a number"):format(name, text), 0)
end

local function size(text, name)
   local digits, unit = tostring(text):match("^%s*([^%s]-)([KMGTkmgt]?)%s*$")
   return number(digits, name) * (units[unit:upper()] or 1)
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
   size = size,
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
local kinds = { [1] = "boolean", [2] = "number", [3] = "size", [4] = "number", [5] = "string", [6] = "table",
   [7] = "string" }

-- The values of options that have a type only.
local empty = { boolean = true, number = 0, size = 0, string = "", table = {} }

local function plain(name)
   return (name:gsub("%-", "_"))
end

-- Each option that is known: its usual value, and the kind of its values.
local function known(declared)
   local options = {}
   for name, value in pairs(native.usual) do
      options[name] = { value, name == "thread_stack_size" and "size" or type(value) }
   end
   for name, definition in pairs(declared or {}) do
      if type(name) ~= "string" or type(definition) ~= "table" then
         error(("%s: sysbench.cmdline.options has an entry that is not of the form name = { meaning, usual value }")
            :format(native.path), 0)
      end
      local usual = definition[2]
      local kind = kinds[definition[3]] or (usual == nil and "string") or type(usual)
      if usual == nil then
         usual = empty[kind]
      end
      options[plain(name)] = { usual, kind }
   end
   return options
end

local program = {}

-- Sets `sysbench.opt`; a script without options of its own has them as globals, and may be given any. Returns the
-- wrong option and the reason, if any.
function program.options()
   local declared = sysbench.cmdline.options or sysbench.option_defs
   local options = known(declared)
   for name, text in pairs(native.given) do
      name = plain(name)
      if options[name] == nil then
         if declared then
            return name, ("%s has no option `%s`%s"):format(native.path, name, native.nearest(name, options))
         end
         options[name] = { text, "string" }
      end
      options[name][1] = text
   end
   -- A script that names its database in SQL must not touch another one.
   options.mysql_db, options.pgsql_db = { native.database, "string" }, { native.database, "string" }
   for name, option in pairs(options) do
      local value = option[1]
      if value ~= nil then
         local is_fine
         is_fine, value = pcall(convert[option[2]], value, name)
         if not is_fine then
            return name, value
         end
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

function sysbench.cmdline.command_defined(name)
   return (program.has(name))
end

function sysbench.cmdline.command_parallel(name)
   return select(2, program.has(name))
end

function sysbench.cmdline.call_command(name)
   local has = program.has(name)
   return has and command(name)() ~= false
end

function sysbench.cmdline.print_test_options()
   for _, row in ipairs(program.declared()) do
      print(("  %s=%s  %s"):format(unpack(row)))
   end
end

-- A loop over events gives control back at the end of each.
local loop

function functions.sb_more_events()
   return true
end

function functions.sb_event_start() end

function functions.sb_event_stop()
   coroutine.yield()
end

-- Runs one event: nil, or `true` where it says that none follows, or the code of the error after which it begins anew.
local function one_event(thread)
   local done, value = pcall(event, thread)
   if done then
      return value and true or nil
   end
   if type(value) ~= "table" or value.errcode ~= sysbench.error.RESTART_EVENT then
      error(value == "not enough memory" and native.path .. ": " .. native.no_memory or value, 0)
   end
   local hook = sysbench.hooks.before_restart_event
   if type(hook) == "function" then
      hook(value)
   end
   return value.code or ""
end

-- For scripts that wrap it.
function thread_run(thread)
   local ended
   repeat
      ended = one_event(thread)
      if ended ~= true then
         coroutine.yield(ended)
      end
   until ended == true
end

local usual_loop = thread_run

-- Does the script define `event`, or a loop of its own over events?
function program.has_event()
   return type(event) == "function" or thread_run ~= usual_loop
end

local function next_of_loop()
   loop = loop or coroutine.create(thread_run)
   local fine, ended = coroutine.resume(loop, native.tid)
   if not fine then
      error(ended, 0)
   end
   return coroutine.status(loop) == "dead" or ended
end

-- As `one_event`, for the loop that the script has.
function program.event()
   if thread_run ~= usual_loop then
      return next_of_loop()
   end
   return one_event(native.tid)
end

return program
