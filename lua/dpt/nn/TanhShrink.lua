--- nn.TanhShrink(): applies x - tanh x elementwise.
-- Invariant: the gradient is tanh^2 x.
-- @function nn.TanhShrink
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.TanhShrink():forward(torch.Tensor{0, 2}) --> [0 1.036]

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
