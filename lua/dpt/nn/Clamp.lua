--- nn.Clamp(min, max): y = min(max(x, minimum), maximum), element by element.
-- Invariant: it is nn.HardTanh with mandatory bounds.
-- @function nn.Clamp
-- @within nn transfer
-- @as layer
-- @param min the lower bound
-- @param max the upper bound
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Clamp(0, 1):forward(torch.Tensor{-1, 0.5, 2}) --> [0 0.5 1]

local torch = require 'dpt.tensor'
local usage = require('dpt.tensor.core').usage
local type = require('dpt.ffi').type

local Clamp, parent = torch.class('nn.Clamp', 'nn.HardTanh')

function Clamp:__init(minValue, maxValue)
   if type(minValue) ~= 'number' or type(maxValue) ~= 'number' then
      usage('nn.Clamp', '(min, max)', minValue, maxValue)
   end
   parent.__init(self, minValue, maxValue)
end

return Clamp
