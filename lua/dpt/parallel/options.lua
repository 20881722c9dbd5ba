--- dpt.parallel.options: checks what a parallel network is made with.
--
-- What must stay true: an option that is not known or has a wrong value raises, saying what was
-- wanted; one that is left out is the class's.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local fail = require('dpt.ffi').fail

local function isDevice(value)
   return type(value) == 'number' and value % 1 == 0 and value >= 1
      and value <= cutorch.getDeviceCount()
end

-- Each option with its test and what it wants.
local known = {
   outputDevice = {isDevice, 'the number of a device'},
   gather = {function(value) return type(value) == 'boolean' end, 'true or false'},
   buffers = {function(value) return value == 'first' or value == 'average' end,
      "'first' or 'average'"},
}

local options = {}

--- Raises unless the option may have the value.
function options.check(owner, name, value)
   local option = known[name]
   if not option then
      fail('%s: there is no option %s, wanted buffers, gather or outputDevice', owner,
         tostring(name))
   end
   if not option[1](value) then
      fail(type(value) == 'string' and "%s: option %s wants %s, got '%s'"
         or '%s: option %s wants %s, got %s', owner, name, option[2], tostring(value))
   end
end

--- Sets fields of an object by the options of a user.
-- @param given nil or a table: outputDevice = device on which results are joined (the first of the
-- network's), gather = whether they are (true), buffers = whose running statistics count ('first')
function options.set(object, given, owner)
   if given ~= nil and type(given) ~= 'table' then
      fail('%s: wants a table of options as argument 4, got %s', owner, torch.type(given))
   end
   for name, value in pairs(given or {}) do
      options.check(owner, name, value)
      object[name] = value
   end
end

return options
