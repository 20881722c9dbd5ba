--- dpt.file.functions: writes and reads Lua functions: bytecode and upvalues.
--
-- Invariant: a function is loaded only if the file allows it; otherwise it is replaced by one that
-- raises when called: most programs that save functions incidentally (a cache of a data set) never
-- call them. The replacement keeps the bytecode, which is written only to files whose readers do
-- not load functions by default: never to memory, whose readers do. Upvalues that two functions
-- share while they are written have one number in the file, and are shared again if both are read.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local fail, type = dptffi.fail, dptffi.type

local functions = {}

-- The policy of files that have no setting of their own.
local default = os.getenv 'DPT_FUNCTIONS' == '1' or 'skip'

local function policy(file)
   if file.functions_ ~= nil then return file.functions_ end
   return file.loadsFunctions_ or default
end

local Kept = {} -- metatable of the data that a replacement function keeps

-- Returns a replacement function. Its first upvalue is {bytes, upvalues, cells, named, subject}:
-- cells: by index, the identity of an upvalue's variable; subject: the name of the file.
local function omit(kept)
   setmetatable(kept, Kept)
   return function()
      local subject = kept.subject -- the first mention of an upvalue
      return fail('a function was left out when %s was loaded, since it could run any code; if you'
         .. ' trust the file, load it with {functions = true}, or set DPT_FUNCTIONS=1', subject)
   end
end

--- Returns the data that a replacement function keeps; nil for other functions.
function functions.omittedUpvalues(f)
   local _, kept = debug.getupvalue(f, 1)
   return getmetatable(kept) == Kept and kept or nil
end

-- Returns the number of an upvalue in the file. identity: the variable's; keep: holds its address
local function number(file, identity, keep)
   local known = file.upvalues_[identity]
   if not known then
      file.count_upvalues_ = file.count_upvalues_ + 1
      known = {file.count_upvalues_, keep} -- so that the address is not reused
      file.upvalues_[identity] = known
   end
   return known[1]
end

-- Returns the upvalues of a replacement function, with this file's numbers.
local function keptUpvalues(file, kept)
   local list = {}
   for i, upvalue in next, kept.upvalues do
      local cell = kept.cells[i]
      list[i] = cell and {name = upvalue.name, value = upvalue.value, id = number(file, cell)}
         or upvalue
   end
   return list
end

--- Returns the bytecode of f, and a list of {name, value, id} of its upvalues, in Torch7's format.
function functions.parts(file, f)
   local kept = functions.omittedUpvalues(f)
   if kept then
      if file.loadsFunctions_ then
         fail('%s: a function that was left out when %s was loaded cannot be copied; load that file'
            .. ' with {functions = true}, or set DPT_FUNCTIONS=1', file.caller_, kept.subject)
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

--- Returns the function of that bytecode, without its upvalues.
function functions.load(file, bytes, named)
   if policy(file) ~= true then
      return omit{bytes = bytes, named = named, subject = file.subject_}
   end
   local f, why = loadstring(bytes)
   if not f then file:_raise('holds a function of another build of Lua: %s', why) end
   return f
end

--- Raises if the file must not contain functions.
function functions.check(file)
   if policy(file) ~= false then return end
   file:_raise('holds a Lua function, which could run any code; if you trust the file, load it with'
      .. ' {functions = true}')
end

-- Keeps the upvalues of a replacement function. Upvalues with the same number in the file get the
-- same cell.
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

--- Sets the upvalues of f; if named, they are {name, value, id}, else plain values.
function functions.join(file, f, upvalues, named)
   if type(upvalues) ~= 'table' then
      file:_damaged("a function's upvalues are of type %s, wanted a table", torch.type(upvalues))
   end
   for _, upvalue in next, named and upvalues or {} do
      if type(upvalue) ~= 'table' then
         file:_damaged('an upvalue is of type %s, wanted a table', torch.type(upvalue))
      end
   end
   local kept = functions.omittedUpvalues(f)
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
