--- nn.ReLU(ip): y = max(0, x), element by element. ip computes in place.
-- Invariant: it is nn.Threshold(0, 0, ip).
-- @function nn.ReLU
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.ReLU():forward(torch.Tensor{-1, 2}) --> [0 2]

local torch = require 'dpt.tensor'

local ReLU, Threshold = torch.class('nn.ReLU', 'nn.Threshold')

function ReLU:__init(ip)
   Threshold.__init(self, 0, 0, ip)
end

return ReLU
