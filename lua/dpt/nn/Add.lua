--- nn.Add(inputSize, scalar): y = x + bias, where bias is a learned vector or, with scalar, a
-- learned number.
-- Invariant: bias has inputSize elements, or one. An input with more elements is a batch of
-- vectors.
-- @function nn.Add
-- @within nn linear
-- @as layer
-- @param scalar true: learns one number, not a vector
-- @return a module; forward: B x inputSize or inputSize -> the same
-- @usage nn.Add(3):forward(torch.zeros(2, 3)):size() --> 2x3

local torch = require 'dpt.tensor'
local broadcast = require 'dpt.nn.broadcast'
local elementwise = require 'dpt.nn.elementwise'

local Add, parent = torch.class('nn.Add', 'nn.Module')

function Add:__init(inputSize, scalar)
   parent.__init(self)
   self.scalar = scalar
   local size = scalar and 1 or inputSize
   self.bias = torch.Tensor(size)
   self.gradBias = torch.Tensor(size):zero()
   self:reset()
end

function Add:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.bias:size(1))
   self.bias:uniform(-stdv, stdv)
end

function Add:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   if self.bias:nElement() == 1 then
      local flat = self.output:view(-1)
      flat:add(1, self.bias:expandAs(flat))
   else
      local rows, bias = broadcast.views(self.output, self.bias, torch.type(self))
      rows:add(1, bias)
   end
   return self.output
end

function Add:updateGradInput(_, gradOutput)
   if self.gradInput then
      self.gradInput:resizeAs(gradOutput):copy(gradOutput)
      return self.gradInput
   end
end

function Add:accGradParameters(input, gradOutput, scale)
   broadcast.accumulate(self.gradBias, scale or 1, elementwise.reshape(self, input, gradOutput))
end

return Add
