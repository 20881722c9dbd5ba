--- dpt.nn.DataParallelTable.options: checks what a parallel network is made with.
--
-- Invariant: an option that is not known or has a wrong value raises, saying what was wanted; one
-- that is left out is the class's.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local function isDevice(value)
   return type(value) == 'number' and value % 1 == 0 and value >= 1
      and value <= cutorch.getDeviceCount()
end

local function isList(value) return type(value) == 'table' and #value > 0 end

local function isDimension(value)
   return type(value) == 'number' and value % 1 == 0 and value >= 1
end

local function areWeights(value)
   local sum = 0
   for _, weight in ipairs(isList(value) and value or {0}) do
      if type(weight) ~= 'number' or weight <= 0 then return false end
      sum = sum + weight
   end
   return sum < math.huge -- nor a NaN
end

-- Each option with its test and what it wants.
local known = {
   devices = {isList, 'a list of devices'},
   dim = {isDimension, 'the dimension to split along, from 1'},
   outputDevice = {isDevice, 'the number of a device'},
   gather = {function(value) return type(value) == 'boolean' end, 'true or false'},
   buffers = {function(value) return value == 'first' or value == 'average' end,
      "'first' or 'average'"},
   weights = {areWeights, 'a list of numbers above 0 with a finite sum, one for each device'},
}

local options = {}

--- The options of nn.DataParallelTable.
options.names = {'buffers', 'gather', 'outputDevice', 'weights'}

-- A value as scripts write it, as far as that is short.
local function shown(value)
   if torch.type(value) ~= 'table' then
      return type(value) == 'string' and "'" .. value .. "'"
         or type(value) == 'cdata' and torch.type(value) or tostring(value)
   end
   local entries = {}
   for i, entry in ipairs(value) do
      entries[i] = type(entry) == 'table' and 'a table' or shown(entry)
   end
   if #entries == 0 then return next(value) == nil and '{}' or 'a table without a list' end
   return '{' .. table.concat(entries, ', ', 1, math.min(#entries, 8))
      .. (#entries > 8 and ', ...}' or '}')
end

--- Raises unless the option is one of names (the table's) and may have the value.
function options.check(owner, name, value, names)
   names = names or options.names
   local option
   for _, allowed in ipairs(names) do
      if name == allowed then option = known[name] end
   end
   if not option then
      fail('%s: there is no option %s, wanted %s or %s', owner, tostring(name),
         table.concat(names, ', ', 1, #names - 1), names[#names])
   end
   if not option[1](value) then
      fail('%s: option %s wants %s, got %s', owner, name, option[2], shown(value))
   end
end

--- Checks the options of a user.
-- @param given nil or a table
-- @param names those that there are
-- @param argument which argument the table is
-- @return the table
function options.read(given, names, owner, argument)
   if given ~= nil and type(given) ~= 'table' then
      fail('%s: wants a table of options as argument %d, got %s', owner, argument,
         torch.type(given))
   end
   for name, value in pairs(given or {}) do options.check(owner, name, value, names) end
   return given or {}
end

--- Sets fields of an object by the options of a user.
-- @param given nil or a table: outputDevice = device on which results are joined (the first of the
-- network's), gather = whether they are (true), buffers = whose running statistics count ('first'),
-- weights = list of how large the part of each device is (alike)
function options.set(object, given, owner)
   for name, value in pairs(options.read(given, options.names, owner, 4)) do
      object[name] = value
   end
end

return options
