--- nn.MaskedSelect(): selects the elements where a mask is 1, as a vector. The input is {tensor,
-- mask}.
-- Invariant: the output's length depends on values, so forward waits for the device. The mask's
-- gradient is 0, in the mask's type.
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
   local x, mask = input[1], input[2]
   local gradient = nn.utils.tensorsLike(self.gradInput, input)
   gradient[1]:resizeAs(x):zero():maskedCopy(mask, gradOutput)
   gradient[2]:resizeAs(mask):zero()
   self.gradInput = gradient
   return gradient
end

return MaskedSelect
