--- dpt.file.functions: Lua functions inside a file: bytecode and upvalues.
--
-- Invariant: a function is only loaded if the file allows it; else one is put in its place that
-- raises when it is called: most programs that save functions in passing (a cache of a data set)
-- never call them. It keeps the bytecode, which goes only to files that are not loaded by
-- themselves: never to memory, whose readers load functions. Upvalues that two functions share
-- while they are written have one number in the file, and are shared again if both are read.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local fail, type = dptffi.fail, dptffi.type

local functions = {}

-- The policy of files for which nobody has set one.
local default = os.getenv 'DPT_FUNCTIONS' == '1' or 'skip'

local function policy(file)
   if file.functions_ ~= nil then return file.functions_ end
   return file.loadsFunctions_ or default
end

local Kept = {} -- metatable of what a function that was left out keeps

-- A function that was left out. Its first upvalue is {bytes, upvalues, cells, named, subject}:
-- cells: by index, what names the variable of an upvalue; subject: what the file is called.
local function leaveOut(kept)
   setmetatable(kept, Kept)
   return function()
      local subject = kept.subject -- the first mention of an upvalue
      return fail('a function was left out when %s was loaded, since it could do anything: if its'
         .. ' origin is trusted, load it with {functions = true}, or run the program with'
         .. ' DPT_FUNCTIONS=1', subject)
   end
end

--- Returns what a function keeps that was left out; nil: it was not.
function functions.leftOut(f)
   local _, kept = debug.getupvalue(f, 1)
   return getmetatable(kept) == Kept and kept or nil
end

-- The number of an upvalue in the file. identity: of the variable; keep: holds its address
local function number(file, identity, keep)
   local known = file.upvalues_[identity]
   if not known then
      file.count_upvalues_ = file.count_upvalues_ + 1
      known = {file.count_upvalues_, keep} -- the address must not become another's
      file.upvalues_[identity] = known
   end
   return known[1]
end

-- The upvalues of a function that was left out, with this file's numbers.
local function keptUpvalues(file, kept)
   local list = {}
   for i, upvalue in next, kept.upvalues do
      local cell = kept.cells[i]
      list[i] = cell and {name = upvalue.name, value = upvalue.value, id = number(file, cell)}
         or upvalue
   end
   return list
end

--- The bytecode of f, and a list of {name, value, id} of its upvalues, as Torch7 writes them.
function functions.parts(file, f)
   local kept = functions.leftOut(f)
   if kept then
      if file.loadsFunctions_ then
         fail('%s: a function that was left out when %s was loaded cannot be copied: load that file'
            .. ' with {functions = true}, or run the program with DPT_FUNCTIONS=1', file.caller_,
            kept.subject)
      end
      return kept.bytes, keptUpvalues(file, kept)
   end
   local list, i = {}, 1
   while true do
      local name, value = debug.getupvalue(f, i)
      if not name then return string.dump(f), list end
      list[i] = {name = name, value = value, id = number(file, debug.upvalueid(f, i), f)}
      i = i + 1
   end
end

--- The function of that bytecode, without its upvalues.
function functions.load(file, bytes, named)
   if policy(file) ~= true then
      return leaveOut{bytes = bytes, named = named, subject = file.subject_}
   end
   local f, why = loadstring(bytes)
   if not f then file:_raise('holds a function of another build of Lua: %s', why) end
   return f
end

--- Raises if the file must not hold functions.
function functions.check(file)
   if policy(file) ~= false then return end
   file:_raise('holds a Lua function, which could do anything: if its origin is trusted, load it'
      .. ' with {functions = true}')
end

-- Keeps the upvalues of a function that was left out. Those that have one number in the file get
-- one cell.
local function keep(file, kept, upvalues)
   kept.upvalues, kept.cells = upvalues, {}
   for i, upvalue in next, kept.named and upvalues or {} do
      local id = upvalue.id
      if id then
         file.cells_[id] = file.cells_[id] or {}
         kept.cells[i] = file.cells_[id]
      end
   end
end

--- Sets the upvalues of f; named: they are {name, value, id}, else plain values.
function functions.join(file, f, upvalues, named)
   if type(upvalues) ~= 'table' then
      file:_damaged("a function's upvalues are of type %s, wanted a table", torch.type(upvalues))
   end
   for _, upvalue in next, named and upvalues or {} do
      if type(upvalue) ~= 'table' then
         file:_damaged('an upvalue is of type %s, wanted a table', torch.type(upvalue))
      end
   end
   local kept = functions.leftOut(f)
   if kept then return keep(file, kept, upvalues) end
   for i, upvalue in pairs(upvalues) do
      if not named then
         debug.setupvalue(f, i, upvalue)
      else
         local value = upvalue.value
         if upvalue.name == '_ENV' then value = getfenv(0) end
         debug.setupvalue(f, i, value)
         local id = upvalue.id
         local other = id and file.joined_[id]
         if other then
            debug.upvaluejoin(f, i, other[1], other[2])
         elseif id then
            file.joined_[id] = {f, i}
         end
      end
   end
end

return functions
