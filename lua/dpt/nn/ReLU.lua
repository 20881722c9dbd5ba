--- nn.ReLU(ip): x where x > 0, else 0.
-- Invariant: it is nn.Threshold(0, 0, ip).

local torch = require 'dpt.tensor'

local ReLU, Threshold = torch.class('nn.ReLU', 'nn.Threshold')

function ReLU:__init(ip)
   Threshold.__init(self, 0, 0, ip)
end

return ReLU
