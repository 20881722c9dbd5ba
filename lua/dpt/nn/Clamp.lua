--- nn.Clamp(min, max): x limited to min..max.
-- Invariant: it is nn.HardTanh whose bounds must be given.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local raise, type = dptffi.raise, dptffi.type

local Clamp, parent = torch.class('nn.Clamp', 'nn.HardTanh')

function Clamp:__init(minValue, maxValue)
   if type(minValue) ~= 'number' or type(maxValue) ~= 'number' then
      raise('nn.Clamp: wants (min, max)')
   end
   parent.__init(self, minValue, maxValue)
end

return Clamp
