--- dpt.file.functions: Lua functions inside a file: bytecode and upvalues.
--
-- Invariant: a function is only loaded if the file allows it; else one stands for it that raises
-- when it is called: most programs that save functions in passing (a cache of a data set) never
-- call them. Upvalues that two functions share while they are written have one number in the file,
-- and are shared again if both are read.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local fail, type = dptffi.fail, dptffi.type

local functions = {}

local function leftOut()
   return fail('a function was left out when its file was loaded, since it could do anything: if'
      .. " the file's origin is trusted, load it with {functions = true}")
end

--- A list of {name, value, id} of the upvalues of f, as Torch7 writes it.
function functions.upvalues(file, f)
   if f == leftOut then
      fail('%s: a function that was left out when its file was loaded would be lost: load that file'
         .. ' with {functions = true}', file.__typename)
   end
   local list, i = {}, 1
   while true do
      local name, value = debug.getupvalue(f, i)
      if not name then return list end
      local address = debug.upvalueid(f, i)
      local known = file.upvalues_[address]
      if not known then
         file.count_upvalues_ = file.count_upvalues_ + 1
         known = {file.count_upvalues_, f} -- f is kept: its address must not become another's
         file.upvalues_[address] = known
      end
      list[i] = {name = name, value = value, id = known[1]}
      i = i + 1
   end
end

--- The function of that bytecode, without its upvalues.
function functions.load(file, bytes)
   if file.functions_ ~= true then return leftOut end
   local f, why = loadstring(bytes)
   if not f then
      fail('%s: a function in the file is of another build of Lua: %s', file.__typename, why)
   end
   return f
end

--- Raises if the file must not hold functions.
function functions.check(file)
   if file.functions_ ~= false then return end
   fail('%s: the file holds a Lua function, which could do anything: if its origin is trusted,'
      .. ' load it with {functions = true}', file.__typename)
end

--- Sets the upvalues of f; named: they are {name, value, id}, else plain values.
function functions.join(file, f, upvalues, named)
   if type(upvalues) ~= 'table' then
      fail("%s: a function's upvalues are of type %s, wanted a table", file.__typename,
         torch.type(upvalues))
   end
   if f == leftOut then return end
   for i, upvalue in pairs(upvalues) do
      if not named then
         debug.setupvalue(f, i, upvalue)
      elseif type(upvalue) ~= 'table' then
         fail('%s: an upvalue is of type %s, wanted a table', file.__typename, torch.type(upvalue))
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
