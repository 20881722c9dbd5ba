--- nn.CAdd(sizes): y = x + bias, where bias is a learned tensor of the given sizes.
-- Invariant: bias is broadcast over the input by the rules of nn/broadcast.lua.
-- @function nn.CAdd
-- @within nn linear
-- @as layer
-- @return a module; forward: B x sizes or sizes -> the same
-- @usage nn.CAdd(3):forward(torch.zeros(2, 3)):size() --> 2x3

local torch = require 'dpt.tensor'
local broadcast = require 'dpt.nn.broadcast'
local elementwise = require 'dpt.nn.elementwise'

local CAdd, parent = torch.class('nn.CAdd', 'nn.Module')

function CAdd:__init(...)
   parent.__init(self)
   local first = ...
   self.size = torch.isStorage(first) and first or torch.LongStorage{...}
   self.bias = torch.Tensor(self.size)
   self.gradBias = torch.Tensor(self.size):zero()
   self.output:resize(self.size)
   self:reset()
end

function CAdd:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.bias:nElement())
   self.bias:uniform(-stdv, stdv)
end

function CAdd:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   local view, bias = broadcast.views(self.output, self.bias, torch.type(self))
   view:add(1, bias)
   return self.output
end

function CAdd:updateGradInput(_, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   return self.gradInput
end

function CAdd:accGradParameters(input, gradOutput, scale)
   broadcast.accumulate(self.gradBias, scale or 1, elementwise.reshape(self, input, gradOutput))
end

return CAdd
