--- nn.GradientReversal(lambda): returns its input; backward multiplies the gradient by -lambda.
-- Invariant: output shares the input's memory.
-- @function nn.GradientReversal
-- @within nn transfer
-- @as layer
-- @param lambda factor of the gradient (1)
-- @return a module; forward: any tensor -> the same
-- @usage nn.GradientReversal(2):backward(torch.ones(2), torch.Tensor{1, 2}) --> [-2 -4]

local torch = require 'dpt.tensor'

local GradientReversal, parent = torch.class('nn.GradientReversal', 'nn.Module')

function GradientReversal:__init(lambda)
   parent.__init(self)
   self.lambda = lambda or 1
end

--- Sets the factor of the reversed gradient.
-- @function nn.GradientReversal:setLambda
-- @as method
-- @within nn transfer
-- @param lambda number: the factor
-- @return nothing
-- @usage local m = nn.GradientReversal()
--    m:setLambda(0.5)
--    return m.lambda --> 0.5
function GradientReversal:setLambda(lambda)
   self.lambda = lambda
end

function GradientReversal:updateOutput(input)
   self.output:set(input)
   return self.output
end

function GradientReversal:updateGradInput(_, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput):mul(-self.lambda)
   return self.gradInput
end

return GradientReversal
