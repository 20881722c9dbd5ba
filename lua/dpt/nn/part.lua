--- What containers, criterions of criterions and constructors take: objects, no classes.
--
-- Invariant: nn.Tanh is a class, nn.Tanh() an object; a class of the script's own that is none of
-- torch's is looked at no further than that it is a table.
local torch = require('dpt.class').torch
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local part = {}

--- Whether a value is a class of modules or criterions.
function part.isClass(value)
   return type(value) == 'table' and not torch.typename(value)
      and (torch.isTypeOf(value, 'nn.Module') or torch.isTypeOf(value, 'nn.Criterion'))
end

--- What an error message calls a value.
function part.describe(value)
   return part.isClass(value) and 'the class ' .. value.__typename or torch.type(value)
end

--- The value, if it can become a part of self; else an error at the script's line.
-- @param kind 'module' or 'criterion'
function part.want(self, method, kind, value)
   if rawequal(value, self) then
      dptffi.fail("%s: %s: argument '%s' is the container itself", torch.type(self), method, kind)
   end
   if type(value) == 'table' and not part.isClass(value) then return value end
   dptffi.fail("%s: %s: argument '%s' is %s, wanted a %s", torch.type(self), method, kind,
      part.describe(value), kind)
end

--- A dimension that a container was made with. Torch7's scripts make nn.Concat() and nn.Parallel()
-- without any to hold modules whose parameters become one vector: those have no forward.
function part.dimension(self, field)
   local dimension = self[field]
   if type(dimension) == 'number' then return dimension end
   dptffi.fail('%s: %s is %s, wanted a number: it was made without, to hold modules',
      torch.type(self), field, tostring(dimension))
end

--- Raises if there is an nn.DistributedDataParallel in a module that is to be copied: copies are
-- bare networks, which would not add up gradients.
-- @param owner, method that copy it
-- @param instead what to wrap
function part.wantBare(owner, method, module, instead)
   for _, inner in ipairs(module:listModules()) do
      if torch.isTypeOf(inner, 'nn.DistributedDataParallel') then
         dptffi.fail('%s: %s got a network with nn.DistributedDataParallel in it, whose copies'
            .. ' would not add up gradients: take it out and write nn.DistributedDataParallel(%s)'
            .. ' around all', owner, method, instead)
      end
   end
end

return part
