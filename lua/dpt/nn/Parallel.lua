--- nn.Parallel(inputDim, outputDim): applies module i to slice i of the input along inputDim, and
-- concatenates the outputs along outputDim.
-- Invariant: the input has at most as many slices as there are modules; surplus modules are not
-- called.
-- @function nn.Parallel
-- @within nn containers
-- @as layer
-- @return a module; forward: a tensor with one slice per module along inputDimension -> the
--    concatenated outputs
-- @usage nn.Parallel(2, 2):add(nn.Linear(3, 1))
--       :add(nn.Linear(3, 2)) :forward(torch.ones(4, 2, 3)):size() --> 4x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail
local requireDimension = require('dpt.nn.child').dimension

local Parallel, parent = torch.class('nn.Parallel', 'nn.Container')
Parallel.leavesGradients = true

function Parallel:__init(inputDimension, outputDimension)
   parent.__init(self)
   self.inputDimension = inputDimension
   self.outputDimension = outputDimension
end

function Parallel:updateOutput(input)
   local slices = input:size(requireDimension(self, 'inputDimension'))
   if slices > #self.modules then
      fail('nn.Parallel: input has %d slices along dimension %d, wanted at most %d, one for each'
         .. ' module', slices, self.inputDimension, #self.modules)
   end
   local outputs = {}
   for i = 1, slices do
      local module, part = self.modules[i], input:select(self.inputDimension, i)
      outputs[i] = self:rethrowErrors(module, i, 'updateOutput', part)
   end
   return nn.utils.join(self.output, outputs, requireDimension(self, 'outputDimension'))
end

--- Calls f(module, index, slice, part) for each slice in order; part is its part of gradOutput.
-- @function nn.Parallel:eachPart
-- @as author
-- @param input tensor: that of the last forward
-- @param gradOutput tensor: of the output
-- @param f function: f(module, index, slice, part)
-- @return nothing
-- @usage local m, n = nn.Parallel(1, 1):add(nn.Tanh()):add(nn.Tanh()), 0
--    m:forward(torch.ones(2, 3))
--    m:eachPart(torch.ones(2, 3), torch.ones(6), function(_, _, x, g)
--       n = n + g:nElement()
--    end)
--    return n --> 6
function Parallel:eachPart(input, gradOutput, f)
   local offset = 1
   for i = 1, input:size(self.inputDimension) do
      local module = self.modules[i]
      local length = module.output:size(self.outputDimension)
      f(module, i, input:select(self.inputDimension, i),
         gradOutput:narrow(self.outputDimension, offset, length))
      offset = offset + length
   end
end

function Parallel:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   self:eachPart(input, gradOutput, function(module, i, x, part)
      local gradInput = self:rethrowErrors(module, i, 'updateGradInput', x, part)
      self.gradInput:select(self.inputDimension, i):copy(gradInput)
   end)
   return self.gradInput
end

function Parallel:accGradParameters(input, gradOutput, scale)
   self:eachPart(input, gradOutput, function(module, i, x, part)
      self:rethrowErrors(module, i, 'accGradParameters', x, part, scale or 1)
   end)
end

function Parallel:accUpdateGradParameters(input, gradOutput, lr)
   self:eachPart(input, gradOutput, function(module, i, x, part)
      self:rethrowErrors(module, i, 'accUpdateGradParameters', x, part, lr)
   end)
end

Parallel.__tostring__ = parent.branchesToString

return Parallel
