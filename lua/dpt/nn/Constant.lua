--- nn.Constant(value, nInputDim): returns the same value for every input.
-- Invariant: an input with more than nInputDim dimensions is a batch; the output repeats the value
-- for each row. gradInput is zero.
-- @function nn.Constant
-- @within nn simple
-- @as layer
-- @param value a number or tensor, the output
-- @return a module; forward: B x ... -> the value, repeated B times if nInputDim is given
-- @usage nn.Constant(torch.Tensor{7, 8}, 1):forward(torch.ones(3, 2)):size() --> 3x2

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local raise, type = dptffi.raise, dptffi.type

local Constant, parent = torch.class('nn.Constant', 'nn.Module')

function Constant:__init(value, nInputDim)
   parent.__init(self)
   self.value = value
   if type(value) == 'number' then self.value = torch.Tensor{value} end
   if not torch.isTensor(self.value) then
      raise("nn.Constant: argument 'value' is of type " .. torch.type(value)
         .. ', wanted a tensor or a number')
   end
   self.nInputDim = nInputDim
end

function Constant:updateOutput(input)
   if self.nInputDim and input:dim() > self.nInputDim then
      local size = self.value:size():totable()
      table.insert(size, 1, input:size(1))
      local one = {unpack(size)}
      one[1] = 1
      self.output:resize(torch.LongStorage(size))
         :copy(self.value:view(torch.LongStorage(one)):expand(torch.LongStorage(size)))
   else
      self.output:resize(self.value:size()):copy(self.value)
   end
   return self.output
end

function Constant:updateGradInput(input, _)
   self.gradInput:resizeAs(input):zero()
   return self.gradInput
end

return Constant
