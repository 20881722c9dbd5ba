--- nn.MaskedSelect(): input is {tensor, mask}; the elements where the mask is 1, as a vector.
-- Invariant: the output's length depends on values, so forward waits for a device.
-- @function nn.MaskedSelect
-- @within nn simple
-- @as layer
-- @return a module; forward: {tensor, ByteTensor of its size} -> a vector
-- @usage nn.MaskedSelect():forward{torch.Tensor{1, 2, 3}, torch.ByteTensor{1, 0, 1}} --> [1 3]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local MaskedSelect, parent = torch.class('nn.MaskedSelect', 'nn.Module')

function MaskedSelect:__init()
   parent.__init(self)
   self.gradInput = {self.gradInput, self.gradInput.new()}
end

function MaskedSelect:updateOutput(input)
   self.output:maskedSelect(input[1], input[2])
   return self.output
end

function MaskedSelect:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   self.gradInput[1]:resizeAs(input[1]):zero():maskedCopy(input[2], gradOutput)
   self.gradInput[2]:resize(input[2]:size()):zero()
   return self.gradInput
end

return MaskedSelect
