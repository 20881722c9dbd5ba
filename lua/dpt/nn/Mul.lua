--- nn.Mul(): y = w x, where w is a learned number.
-- Invariant: weight is a tensor of one element, which the host never reads.
-- @function nn.Mul
-- @within nn linear
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Mul():forward(torch.zeros(2, 3)):size() --> 2x3

local torch = require 'dpt.tensor'
local broadcast = require 'dpt.nn.broadcast'

local Mul, parent = torch.class('nn.Mul', 'nn.Module')

function Mul:__init()
   parent.__init(self)
   self.weight = torch.Tensor(1)
   self.gradWeight = torch.Tensor(1):zero()
   self:reset()
end

function Mul:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(1))
   self.weight:uniform(-stdv, stdv)
end

-- Computes result = source times the number.
local function scaled(self, result, source)
   result:resizeAs(source):copy(source)
   local flat = result:view(-1)
   flat:cmul(self.weight:expandAs(flat))
   return result
end

function Mul:updateOutput(input)
   return scaled(self, self.output, input)
end

function Mul:updateGradInput(_, gradOutput)
   return scaled(self, self.gradInput, gradOutput)
end

function Mul:accGradParameters(input, gradOutput, scale)
   broadcast.accumulate(self.gradWeight, scale or 1, torch.cmul(input, gradOutput))
end

return Mul
