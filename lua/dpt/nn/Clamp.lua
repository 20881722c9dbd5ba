--- nn.Clamp(min, max): x limited to min..max.
-- What must stay true: it is nn.HardTanh whose bounds must be given.

local torch = require 'dpt.tensor'

local Clamp, parent = torch.class('nn.Clamp', 'nn.HardTanh')

function Clamp:__init(minValue, maxValue)
   if type(minValue) ~= 'number' or type(maxValue) ~= 'number' then
      error('nn.Clamp: wants (min, max)', 2)
   end
   parent.__init(self, minValue, maxValue)
end

return Clamp
