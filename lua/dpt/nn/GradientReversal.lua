--- nn.GradientReversal(lambda): passes its input on and turns gradients around, times lambda (1).
-- Invariant: output is the input's own memory.

local torch = require 'dpt.tensor'

local GradientReversal, parent = torch.class('nn.GradientReversal', 'nn.Module')

function GradientReversal:__init(lambda)
   parent.__init(self)
   self.lambda = lambda or 1
end

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
