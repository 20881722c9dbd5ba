--- nn.ParallelTable: applies module i to entry i of the input table.
-- Invariant: output[i] and gradInput[i] are module i's tensors, not copies.
-- @function nn.ParallelTable
-- @within nn containers
-- @as layer
-- @return a module; forward: a table with an entry per module -> a table of their outputs
-- @usage nn.ParallelTable():add(nn.Abs())
--       :add(nn.Square()) :forward{torch.Tensor{-1}, torch.Tensor{3}}[2] --> [9]

local torch = require 'dpt.tensor'
local type = require('dpt.ffi').type

local ParallelTable, parent = torch.class('nn.ParallelTable', 'nn.Container')
ParallelTable.leavesGradients = true

function ParallelTable:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
end

function ParallelTable:updateOutput(input)
   for i, module in ipairs(self.modules) do
      self.output[i] = self:rethrowErrors(module, i, 'updateOutput', input[i])
   end
   return self.output
end

function ParallelTable:updateGradInput(input, gradOutput)
   for i, module in ipairs(self.modules) do
      self.gradInput[i] = self:rethrowErrors(module, i, 'updateGradInput', input[i], gradOutput[i])
   end
   return self.gradInput
end

function ParallelTable:backward(input, gradOutput, scale)
   for i, module in ipairs(self.modules) do
      self.gradInput[i] =
         self:rethrowErrors(module, i, 'backward', input[i], gradOutput[i], scale or 1)
   end
   return self.gradInput
end

--- Returns the splits of the entries, each from its module.
function ParallelTable:inputSplit(input)
   local split = {}
   for i, module in ipairs(self.modules) do split[i] = module:inputSplit(input[i]) end
   return next(split) and split
end

function ParallelTable:outputSplit(given)
   local split = {}
   for i, module in ipairs(self.modules) do
      local own = given
      if type(given) == 'table' then own = given[i] end
      split[i] = module:outputSplit(own)
   end
   return next(split) and split
end

function ParallelTable:accGradParameters(input, gradOutput, scale)
   for i, module in ipairs(self.modules) do
      self:rethrowErrors(module, i, 'accGradParameters', input[i], gradOutput[i], scale or 1)
   end
end

function ParallelTable:accUpdateGradParameters(input, gradOutput, lr)
   for i, module in ipairs(self.modules) do
      self:rethrowErrors(module, i, 'accUpdateGradParameters', input[i], gradOutput[i], lr)
   end
end

ParallelTable.__tostring__ = parent.branchesToString

return ParallelTable
