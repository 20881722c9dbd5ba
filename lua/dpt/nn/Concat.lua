--- nn.Concat(dim): applies every module to the same input and concatenates their outputs along
-- dimension dim.
-- Invariant: the container owns output and gradInput. gradInput is the sum of the modules'
-- gradInputs, entry by entry if the input is a table.
-- @function nn.Concat
-- @within nn containers
-- @as layer
-- @return a module; forward: any tensor -> the joined outputs, which agree in all sizes except
--    along dim
-- @usage nn.Concat(2):add(nn.Linear(3, 2)):add(nn.Linear(3, 5))
--       :forward(torch.ones(4, 3)) :size() --> 4x7

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local requireDimension = require('dpt.nn.child').dimension

local Concat, parent = torch.class('nn.Concat', 'nn.Container')
Concat.leavesGradients = true

function Concat:__init(dimension)
   parent.__init(self)
   self.outputSize = torch.LongStorage()
   self.dimension = dimension
end

function Concat:updateOutput(input)
   local outputs = {}
   for i, module in ipairs(self.modules) do
      outputs[i] = self:rethrowErrors(module, i, 'updateOutput', input)
   end
   self.output = torch.isTensor(self.output) and self.output or input.new()
   nn.utils.join(self.output, outputs, requireDimension(self, 'dimension'))
   self.outputSize = self.output:size()
   return self.output
end

--- Calls f(module, index, part) for each module in order; part is its slice of gradOutput.
-- @function nn.Concat:eachPart
-- @as author
-- @param gradOutput tensor: of the output
-- @param f function: f(module, index, part)
-- @return nothing
-- @usage local m, n = nn.Concat(1):add(nn.Tanh()):add(nn.Tanh()), 0
--    m:forward(torch.ones(2))
--    m:eachPart(torch.ones(4), function(_, _, part) n = n + part:nElement() end)
--    return n --> 4
function Concat:eachPart(gradOutput, f)
   local offset = 1
   for i, module in ipairs(self.modules) do
      local length = module.output:size(self.dimension)
      f(module, i, gradOutput:narrow(self.dimension, offset, length))
      offset = offset + length
   end
end

function Concat:updateGradInput(input, gradOutput)
   self:eachPart(gradOutput, function(module, i, part)
      self:addGradInput(i, self:rethrowErrors(module, i, 'updateGradInput', input, part))
   end)
   return self.gradInput
end

function Concat:accGradParameters(input, gradOutput, scale)
   self:eachPart(gradOutput, function(module, i, part)
      self:rethrowErrors(module, i, 'accGradParameters', input, part, scale or 1)
   end)
end

function Concat:backward(input, gradOutput, scale)
   self:eachPart(gradOutput, function(module, i, part)
      self:addGradInput(i, self:rethrowErrors(module, i, 'backward', input, part, scale or 1))
   end)
   return self.gradInput
end

function Concat:accUpdateGradParameters(input, gradOutput, lr)
   self:eachPart(gradOutput, function(module, i, part)
      self:rethrowErrors(module, i, 'accUpdateGradParameters', input, part, lr)
   end)
end

Concat.__tostring__ = parent.branchesToString

return Concat
