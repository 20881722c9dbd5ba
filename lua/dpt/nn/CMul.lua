--- nn.CMul(sizes): y = weight * x, element by element; weight is a learned tensor of the given
-- sizes.
-- Invariant: weight is broadcast over the input by the rules of nn/broadcast.lua.
-- @function nn.CMul
-- @within nn linear
-- @as layer
-- @return a module; forward: B x sizes or sizes -> the same
-- @usage nn.CMul(3):forward(torch.zeros(2, 3)):size() --> 2x3

local torch = require 'dpt.tensor'
local broadcast = require 'dpt.nn.broadcast'

local CMul, parent = torch.class('nn.CMul', 'nn.Module')

function CMul:__init(...)
   parent.__init(self)
   local first = ...
   self.size = torch.isStorage(first) and first or torch.LongStorage{...}
   self.weight = torch.Tensor(self.size)
   self.gradWeight = torch.Tensor(self.size):zero()
   self.output:resize(self.size)
   self:reset()
end

function CMul:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:nElement())
   self.weight:uniform(-stdv, stdv)
end

local function scaled(self, result, source)
   result:resizeAs(source):copy(source)
   local view, weight = broadcast.views(result, self.weight, torch.type(self))
   view:cmul(weight)
   return result
end

function CMul:updateOutput(input)
   return scaled(self, self.output, input)
end

function CMul:updateGradInput(_, gradOutput)
   return scaled(self, self.gradInput, gradOutput)
end

function CMul:accGradParameters(input, gradOutput, scale)
   broadcast.accumulate(self.gradWeight, scale or 1, torch.cmul(input, gradOutput))
end

return CMul
