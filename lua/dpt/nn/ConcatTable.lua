--- nn.ConcatTable: applies every module to the same input and returns the table of their outputs.
-- Invariant: output[i] is module i's output, not a copy. The container owns gradInput, the sum of
-- the modules' gradInputs.
-- @function nn.ConcatTable
-- @within nn containers
-- @as layer
-- @return a module; forward: anything -> a table with an entry per module
-- @usage #nn.ConcatTable():add(nn.Identity()):add(nn.Tanh()):forward(torch.ones(2)) --> 2

local torch = require 'dpt.tensor'

local ConcatTable, parent = torch.class('nn.ConcatTable', 'nn.Container')
ConcatTable.leavesGradients = true

function ConcatTable:__init()
   parent.__init(self)
   self.output = {}
end

function ConcatTable:updateOutput(input)
   for i, module in ipairs(self.modules) do
      self.output[i] = self:rethrowErrors(module, i, 'updateOutput', input)
   end
   return self.output
end

--- Calls a backward method of every module and sums the gradients of the input.
-- @function nn.ConcatTable:sumGradients
-- @as author
-- @param method string: the method's name
-- @param input tensor: or table; that of the last forward
-- @param gradOutput table: an entry per module
-- @param ...? any: further arguments of the method
-- @return the gradient of the input
-- @usage local m = nn.ConcatTable():add(nn.Identity()):add(nn.Identity())
--    m:forward(torch.ones(1))
--    return m:sumGradients('updateGradInput', torch.ones(1), {torch.Tensor{1},
--       torch.Tensor{2}}) --> [3]
function ConcatTable:sumGradients(method, input, gradOutput, ...)
   for i, module in ipairs(self.modules) do
      self:addGradInput(i, self:rethrowErrors(module, i, method, input, gradOutput[i], ...))
   end
   return self.gradInput
end

function ConcatTable:outputSplit(given)
   local split = {}
   for i, module in ipairs(self.modules) do split[i] = module:outputSplit(given) end
   return next(split) and split
end

function ConcatTable:updateGradInput(input, gradOutput)
   return self:sumGradients('updateGradInput', input, gradOutput)
end

function ConcatTable:backward(input, gradOutput, scale)
   return self:sumGradients('backward', input, gradOutput, scale or 1)
end

function ConcatTable:accGradParameters(input, gradOutput, scale)
   for i, module in ipairs(self.modules) do
      self:rethrowErrors(module, i, 'accGradParameters', input, gradOutput[i], scale or 1)
   end
end

function ConcatTable:accUpdateGradParameters(input, gradOutput, lr)
   for i, module in ipairs(self.modules) do
      self:rethrowErrors(module, i, 'accUpdateGradParameters', input, gradOutput[i], lr)
   end
end

ConcatTable.__tostring__ = parent.branchesToString

return ConcatTable
