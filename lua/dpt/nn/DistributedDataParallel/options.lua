--- dpt.nn.DistributedDataParallel.options: checks what a distributed network is made with.
--
-- Invariant: an option that is not known or has a wrong value raises, saying what was wanted.
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local options = {}

local names = {'buffers', 'hook', 'overlap', 'reduce', 'sampler'}
local known = {
   buffers = {"'first', 'average' or 'own'", first = true, average = true, own = true},
   hook = {"'half' or a function", half = true},
   overlap = {'true or false', [true] = true, [false] = true},
   sampler = {'what distributed.sampler returned'},
   reduce = {"'samples', 'ranks' or 'sum'", samples = true, ranks = true, sum = true},
}

--- Sets fields of an object by the options of a user.
function options.set(object, given, owner)
   if given ~= nil and type(given) ~= 'table' then
      fail('%s: wants a table of options as argument 2, got %s', owner, torch.type(given))
   end
   for name, value in pairs(given or {}) do
      if not known[name] then
         fail('%s: there is no option %s, wanted %s', owner, tostring(name),
            table.concat(names, ', '))
      end
      local fits = name == 'sampler' and type(value) == 'table' and value.next ~= nil
         or name == 'hook' and type(value) == 'function'
      if not known[name][value] and not fits then
         fail('%s: option %s wants %s, got %s', owner, name, known[name][1], tostring(value))
      end
      object[name] = value
   end
end

--- The options of an object, each as a text.
function options.texts(object)
   local list = {}
   for i, name in ipairs(names) do
      local value = object[name]
      list[i] = ('option %s = %s'):format(name,
         (type(value) == 'table' or type(value) == 'function') and 'given' or tostring(value))
   end
   return list
end

return options
