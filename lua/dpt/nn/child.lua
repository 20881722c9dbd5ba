--- dpt.nn.child: checks that containers and constructors receive objects, not classes.
--
-- Invariant: nn.Tanh is a class, nn.Tanh() an object. A table that is not a class of torch is
-- accepted without further checks.
local torch = require('dpt.class').torch
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local child = {}

--- Returns true if a value is a class of modules or criterions.
function child.isClass(value)
   return type(value) == 'table' and not torch.typename(value)
      and (torch.isTypeOf(value, 'nn.Module') or torch.isTypeOf(value, 'nn.Criterion'))
end

--- Returns the description of a value for error messages.
function child.describe(value)
   return child.isClass(value) and 'the class ' .. value.__typename or torch.type(value)
end

--- Returns the value if it can become a child of self; otherwise raises an error with the position
-- of the call in the user's script.
-- @param kind 'module' or 'criterion'
function child.check(self, method, kind, value)
   if rawequal(value, self) then
      dptffi.fail("%s: %s: argument '%s' is the container itself", torch.type(self), method, kind)
   end
   if type(value) == 'table' and not child.isClass(value) then return value end
   dptffi.fail("%s: %s: argument '%s' is %s, wanted a %s", torch.type(self), method, kind,
      child.describe(value), kind)
end

--- Returns the dimension that a container was created with. Raises without one: scripts of Torch7
-- create nn.Concat() and nn.Parallel() only to hold modules whose parameters are flattened, and
-- such a container has no forward.
function child.dimension(self, field)
   local dimension = self[field]
   if type(dimension) == 'number' then return dimension end
   dptffi.fail('%s: %s is %s, wanted a number: it was made without one and has no forward',
      torch.type(self), field, tostring(dimension))
end

--- Raises if a module that is to be copied contains an nn.DistributedDataParallel: copies are bare
-- networks, which would not reduce gradients.
-- @param owner, method the class and method that copy it
-- @param instead the object to wrap
function child.rejectDistributed(owner, method, module, instead)
   for _, inner in ipairs(module:listModules()) do
      if torch.isTypeOf(inner, 'nn.DistributedDataParallel') then
         dptffi.fail('%s: %s got a network with nn.DistributedDataParallel in it, whose copies'
            .. ' would not add up gradients: take it out and write nn.DistributedDataParallel(%s)'
            .. ' around all', owner, method, instead)
      end
   end
end

return child
