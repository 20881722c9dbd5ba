--- nn.MixedPrecision.Float(module, types, keepsFloat): a module that stays in float
-- inside a network of 16 bits; nn.MixedPrecision inserts it.
--
-- Invariant: the module receives floats. The output is converted to 16 bits unless keepsFloat is
-- set; gradInput has the types of the input.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local cast = require 'dpt.nn.MixedPrecision.cast'

local classes = {}
local Float, parent = torch.class('nn.MixedPrecision.Float', 'nn.Decorator', classes)
Float._internal = true
Float.leavesGradients = true

--- Fields of a pass.
Float.transient = {'buffers_', 'given_', 'input_'}

--- Wraps a module.
-- @param module stays in float
-- @param types list: the names of the float and of the 16-bit type
-- @param keepsFloat boolean: true if the next module accepts floats
function Float:__init(module, types, keepsFloat)
   parent.__init(self, module)
   self.float, self.reduced, self._type = core.kinds[types[1]], core.kinds[types[2]], types[2]
   self.keepsFloat = keepsFloat
   self:resetTransient()
end

--- Creates the buffers.
function Float:resetTransient() self.buffers_ = {} end

local function toFloat(self, key, value)
   return cast.to(self.buffers_, key, value, self.reduced, self.float)
end

-- Returns the input that the module received in the last forward, or the given one in float.
local function given(self, input)
   if not rawequal(input, self.input_) then
      self.given_, self.input_ = toFloat(self, 'input', input), input
   end
   return self.given_
end

function Float:updateOutput(input)
   self.given_, self.input_ = toFloat(self, 'input', input), input
   local output = self.modules[1]:updateOutput(self.given_)
   if not self.keepsFloat then
      output = cast.to(self.buffers_, 'output', output, self.float, self.reduced)
   end
   self.output = output
   return output
end

-- Returns gradInput in the types of the input.
local function outward(self, gradInput, input)
   self.gradInput = cast.like(self.buffers_, 'gradInput', gradInput, input, self.float,
      self.reduced)
   return self.gradInput
end

function Float:updateGradInput(input, gradOutput)
   local gradInput = self.modules[1]:updateGradInput(given(self, input),
      toFloat(self, 'gradOutput', gradOutput))
   return outward(self, gradInput, input)
end

for _, name in ipairs{'accGradParameters', 'accUpdateGradParameters',
   'sharedAccUpdateGradParameters'} do
   Float[name] = function(self, input, gradOutput, factor)
      self.modules[1][name](self.modules[1], given(self, input),
         toFloat(self, 'gradOutput', gradOutput), factor)
   end
end

function Float:backward(input, gradOutput, scale)
   local gradInput = self.modules[1]:backward(given(self, input),
      toFloat(self, 'gradOutput', gradOutput), scale)
   return outward(self, gradInput, input)
end

--- Keeps the types of the module.
function Float:type(typename)
   return typename and self or self._type
end

function Float:clearState()
   self.modules[1]:clearState()
   self.given_, self.input_ = nil, nil
   self.buffers_ = {}
   self.output, self.gradInput = torch.Tensor(), torch.Tensor()
   return self
end

--- Returns the split of the inner module.
function Float:inputSplit(input) return self.modules[1]:inputSplit(input) end
function Float:outputSplit(split) return self.modules[1]:outputSplit(split) end

return classes.Float
