--- dpt.nn.DataParallelTable.options: checks what a parallel network is made with.
--
-- Invariant: an option that is not known or has a wrong value raises, saying what was wanted; one
-- that is left out is the class's.
local cutorch = require 'dpt.device'
local general = require 'dpt.distributed.options'
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
   return sum < math.huge -- nor a NaN
end

-- Each option with its test and what it wants.
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

--- What nn.DistributedDataParallel belongs around, for errors.
options.WRAPPED = 'nn.DataParallelTable(1):add(network, devices)'

--- The types that a network on devices may have.
options.types = {
   ['torch.CudaTensor'] = true, ['torch.CudaDoubleTensor'] = true, ['torch.CudaHalfTensor'] = true,
}

--- That of a module, by its parameters, which a script may have converted; nil: none of these.
function options.typeOf(module)
   for _, t in ipairs(module:parameters() or {}) do
      if options.types[t:type()] then return t:type() end
   end
   return options.types[module:type()] and module:type()
end

--- The options of nn.DataParallelTable.
options.names = {'buffers', 'gather', 'outputDevice', 'overlap', 'weights'}

--- Raises unless the option is one of names (the table's) and may have the value.
function options.check(owner, name, value, names)
   general.checkOne(owner, name, value, known, names or options.names)
end

--- The same for the fields of an object, which a script may have set.
function options.checkFields(object)
   for _, name in ipairs(options.names) do
      if object[name] ~= nil then options.check(torch.type(object), name, object[name]) end
   end
end

--- Raises unless what a method is to call is a function.
function options.checkFunction(owner, method, f)
   if type(f) ~= 'function' then
      fail('%s: %s wants a function as argument 1, got %s', owner, method, torch.type(f))
   end
end

--- Checks the options of a user.
-- @param given nil or a table
-- @param names those that there are
-- @param argument which argument the table is
-- @return the table
function options.read(given, names, owner, argument)
   return general.check(owner, given, argument, known, names)
end

--- Sets fields of an object by the options of a user.
-- @param given nil or a table: outputDevice = device on which results are joined (the first of the
-- network's), gather = whether they are (true), buffers = whose running statistics count ('first'),
-- overlap = whether gradients are added up while others are computed (true), weights = list of how
-- large the part of each device is (alike)
function options.set(object, given, owner)
   for name, value in pairs(options.read(given, options.names, owner, 4)) do
      object[name] = value
   end
end

return options
