--- nn.MixedPrecision.Float(module, float, reduced, keepsOutput): a module that stays in float in a
-- network of 16 bits; nn.MixedPrecision inserts it.
--
-- Invariant: the module receives floats. The output is converted to 16 bits, except the parts that
-- keepsOutput selects; gradInput has the types of the input.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local passes = require 'dpt.nn.MixedPrecision.passes'

local classes = {}
local Float, parent = torch.class('nn.MixedPrecision.Float', 'nn.Decorator', classes)
Float._internal = true
Float.leavesGradients = true

--- Fields of a pass.
Float.transient = {'buffers_', 'given_', 'input_', 'result_'}

for name, method in pairs(passes) do Float[name] = method end

--- Wraps a module.
-- @param module stays in float
-- @param float, reduced kinds of tensors
-- @param keepsOutput the parts of the output that the next module accepts in float: a result of
--    precision.keepsInput
function Float:__init(module, float, reduced, keepsOutput)
   parent.__init(self, module)
   self.kinds_ = {float = float, reduced = reduced, outer = reduced, inner = float}
   self._type, self.keepsOutput = core.tensorNames[reduced], keepsOutput
   self:resetTransient()
end

-- Raises if a conversion to 16 bits may have rounded indices in the input.
local function checkIndices(module, input)
   if module._checkIndices then
      module:_checkIndices(input)
   elseif torch.isTypeOf(module, 'nn.Sequential') or torch.isTypeOf(module, 'nn.Decorator') then
      local first = module.modules[1]
      if first then checkIndices(first, input) end
   end
end

function Float:updateOutput(input)
   checkIndices(self.modules[1], input)
   return passes.updateOutput(self, input)
end

--- Keeps the types of the module.
function Float:type(typename)
   return typename and self or self._type
end

return classes.Float
