--- dpt.nn.DataParallelTable.options: checks the options of a parallel network.
--
-- Invariant: an unknown option or a wrong value raises and names the valid ones. An omitted option
-- has the class's default.
local cutorch = require 'dpt.device'
local general = require 'dpt.distributed.options'
local core = require 'dpt.tensor.core'
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local type, fail = dptffi.type, dptffi.fail

local function isDevice(value)
   return general.isCount(value) and value <= cutorch.getDeviceCount()
end

local function isList(value) return type(value) == 'table' and #value > 0 end

local function areWeights(value)
   local sum = 0
   for _, weight in ipairs(isList(value) and value or {0}) do
      if type(weight) ~= 'number' or weight <= 0 then return false end
      sum = sum + weight
   end
   return sum < math.huge -- rejects NaN, too
end

-- Each option with its test and the description of valid values.
local known = {
   devices = {isList, 'a list of devices'},
   dim = {general.isCount, 'the dimension to split along, from 1'},
   outputDevice = {isDevice, 'the number of a device'},
   gather = {general.isBoolean, 'true or false'},
   buffers = {function(value) return value == 'first' or value == 'average' end,
      "'first' or 'average'"},
   overlap = {general.isBoolean, 'true or false'},
   weights = {areWeights, 'a list of numbers above 0 with a finite sum, one for each device'},
}

local options = {}

--- Describes, for errors, the module that nn.DistributedDataParallel must wrap.
options.WRAPPED = 'nn.DataParallelTable(1):add(network, devices)'

--- Types that a network on devices may have.
options.types = {}
for kind, name in pairs(core.realNames) do
   if kind >= core.ON_DEVICE then options.types[name] = true end
end

--- Returns the type of a module: that of its parameters (which a script may have converted), or its
-- own if it has none; nil if it is none of these types.
function options.typeOf(module)
   for _, t in ipairs(module:parameters() or {}) do
      if options.types[t:type()] then return t:type() end
   end
   return options.types[module:type()] and module:type()
end

--- The options of nn.DataParallelTable.
options.names = {'buffers', 'gather', 'outputDevice', 'overlap', 'weights'}

--- Raises unless the option is one of names (the table's) and the value is valid.
function options.check(owner, name, value, names)
   general.checkOne(owner, name, value, known, names or options.names)
end

--- Raises unless the fields of an object, which a script may have set, have valid values.
function options.checkFields(object)
   for _, name in ipairs(options.names) do
      if object[name] ~= nil then options.check(torch.type(object), name, object[name]) end
   end
end

--- Raises unless argument 1 of a method is a function.
function options.checkFunction(owner, method, f)
   if type(f) ~= 'function' then
      fail('%s: %s wants a function as argument 1, got %s', owner, method, torch.type(f))
   end
end

--- Checks a user's options.
-- @param given nil or a table
-- @param names the valid names
-- @param argument the table's argument number
-- @return the table
function options.read(given, names, owner, argument)
   return general.check(owner, given, argument, known, names)
end

--- Sets fields of an object from a user's options.
-- @param given nil or a table: outputDevice = device on which results are joined (the network's
--    first), gather = whether they are joined (true), buffers = the source of running statistics
--    ('first'), overlap = whether gradients are summed during backward (true), weights = list of
--    the devices' relative parts (equal)
function options.set(object, given, owner)
   for name, value in pairs(options.read(given, options.names, owner, 4)) do
      object[name] = value
   end
end

return options
