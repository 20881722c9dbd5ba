--- dpt.distributed.options: checks tables of options, for distributed.sampler, distributed.loader
-- and the networks built on them.
--
-- Invariant: an unknown option or a wrong value raises an error that names what was wanted.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local options = {
   wires = {},     -- 'half', 'bfloat16' -> element type: what floats can be sent in
   wireNames = {}, -- the names in wires, as a list
}
for dtype = 0, #core.elements do
   if core.elements[dtype].isReduced then
      local name = core.methodNames[dtype]
      options.wires[name] = dtype
      table.insert(options.wireNames, name)
   end
end

--- Returns true for an integer.
function options.isWhole(value) return type(value) == 'number' and value % 1 == 0 end

--- Returns true for an integer from 1 on.
function options.isCount(value) return options.isWhole(value) and value >= 1 end

--- Returns true for true and false.
function options.isBoolean(value) return type(value) == 'boolean' end

-- Returns a value as Lua text, if that is short.
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

local function namesOf(known)
   local names = {}
   for name in pairs(known) do names[#names + 1] = name end
   table.sort(names)
   return names
end

--- Raises unless the option exists and may have the value.
-- @param known by name {test = function(value), description of the wanted value}
-- @param names list of the allowed options; nil: all of `known`
function options.checkOne(owner, name, value, known, names)
   names = names or namesOf(known)
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

--- Checks a table of options.
-- @param given nil or a table
-- @param argument name of that argument
-- @return the table
function options.check(owner, given, argument, known, names)
   if given ~= nil and type(given) ~= 'table' then
      fail('%s: wants a table of options as argument %d, got %s', owner, argument,
         torch.type(given))
   end
   for name, value in pairs(given or {}) do
      options.checkOne(owner, name, value, known, names)
   end
   return given or {}
end

return options
