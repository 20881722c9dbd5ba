--- dpt.nn.DistributedDataParallel.options: checks the options of a distributed network.
--
-- Invariant: an unknown option or a wrong value raises and names the valid ones.
local groups = require 'dpt.distributed.group'
local general = require 'dpt.distributed.options'
local Sampler = require 'dpt.distributed.sampler'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local options = {}

local function oneOf(...)
   local values = {}
   for _, value in ipairs{...} do values[value] = true end
   return function(value) return values[value] ~= nil end
end

local function isHook(value)
   return general.wires[value] ~= nil or type(value) == 'function'
end

local function isSampler(value) return type(value) == 'table' and value.next ~= nil end

local names = {'buffers', 'checkAlike', 'evenBatches', 'hook', 'overlap', 'reduce', 'sampler'}
local fields = {checkAlike = 'checkEvery'} -- fields whose option has a method's name
local known = {
   buffers = {oneOf('first', 'average', 'own'), "'first', 'average' or 'own'"},
   checkAlike = {general.isCount, 'a number from 1 on'},
   evenBatches = {general.isBoolean, 'true or false'},
   group = groups.option,
   hook = {isHook, ("'%s' or a function"):format(table.concat(general.wireNames, "', '"))},
   overlap = {general.isBoolean, 'true or false'},
   sampler = {isSampler, 'what distributed.sampler returned'},
   reduce = {oneOf('samples', 'ranks', 'sum'), "'samples', 'ranks' or 'sum'"},
}

--- Sets fields of an object from a user's options.
function options.set(object, given, owner)
   for name, value in pairs(general.check(owner, given, 2, known)) do
      object[fields[name] or name] = value
   end
end

--- Raises if the option sampler splits batches for ranks other than the group's.
function options.checkSampler(object, owner)
   local sampler = object.sampler and (object.sampler.sampler or object.sampler) -- of a loader
   if getmetatable(sampler) == Sampler
      and (sampler.size ~= object.ranks or sampler.rank ~= object.rank) then
      dptffi.fail('%s: option sampler cuts batches for rank %d of %d, and the network has this as'
         .. ' rank %d of %d; give distributed.sampler the same option group', owner, sampler.rank,
         sampler.size, object.rank, object.ranks)
   end
end

-- Describes the settings of a sampler or loader that determine its batches.
local function batches(sampler)
   local state = type(sampler.state) == 'function' and sampler:state()
   if type(state) ~= 'table' then return 'given' end
   local list = {}
   for _, name in ipairs{'n', 'batch', 'seed', 'shuffle', 'dropLast', 'current', 'position'} do
      local value = state[name]
      if type(value) ~= 'table' then list[#list + 1] = name .. ' = ' .. tostring(value) end
   end
   return '{' .. table.concat(list, ', ') .. '}'
end

--- Returns the options of an object, each as a string.
function options.texts(object)
   local list = {}
   for i, name in ipairs(names) do
      local value = object[fields[name] or name]
      list[i] = ('option %s = %s'):format(name, type(value) == 'table' and batches(value)
         or type(value) == 'function' and 'given' or tostring(value))
   end
   return list
end

return options
