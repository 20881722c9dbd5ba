--- nn.TanhShrink(): x - tanh x, element by element.
-- Invariant: the gradient is tanh^2 x.

local torch = require 'dpt.tensor'

local TanhShrink = torch.class('nn.TanhShrink', 'nn.Module')

function TanhShrink:updateOutput(input)
   self.output:resizeAs(input):tanh(input)
   self.output:add(input, -1, self.output)
   return self.output
end

function TanhShrink:updateGradInput(input, gradOutput)
   local tanh = torch.add(input, -1, self.output)
   self.gradInput:resizeAs(input):cmul(tanh, tanh):cmul(gradOutput)
   return self.gradInput
end

return TanhShrink
