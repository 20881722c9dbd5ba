--- nn.ReLU6(ip): y = min(max(0, x), 6), element by element. ip computes in place.
-- Invariant: it is nn.HardTanh(0, 6, ip).
-- @function nn.ReLU6
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.ReLU6():forward(torch.Tensor{-1, 9}) --> [0 6]

local torch = require 'dpt.tensor'

local ReLU6, parent = torch.class('nn.ReLU6', 'nn.HardTanh')

function ReLU6:__init(inplace)
   parent.__init(self, 0, 6, inplace)
end

return ReLU6
