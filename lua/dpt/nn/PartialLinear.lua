--- nn.PartialLinear(inputSize, outputSize, bias): nn.Linear that computes a subset of its outputs.
-- Invariant: setPartition(indices) selects the outputs, resetPartition all of them. The gradients
-- of the other rows do not change. The weight is that of the nn.LookupTable in self.network, as in
-- Torch7's files; the network itself is never called.
-- @function nn.PartialLinear
-- @within nn linear
-- @as layer
-- @return a module; forward: ... x inputSize -> ... x outputSize, with the same leading sizes, or
--    none; after setPartition only the selected outputs
-- @usage nn.PartialLinear(3, 10):forward(torch.ones(4, 3)):size() --> 4x10

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local lib = require('dpt.ffi').lib

local PartialLinear, parent = torch.class('nn.PartialLinear', 'nn.Module')

function PartialLinear:__init(inputSize, outputSize, bias)
   parent.__init(self)
   self.inputsize, self.outputsize = inputSize, outputSize
   local both = nn.ParallelTable():add(nn.Identity()):add(nn.LookupTable(outputSize, inputSize))
   self.network = nn.Sequential():add(both):add(nn.MM(false, true))
   if bias == nil or bias then
      self.bias = torch.Tensor(1, outputSize):zero()
      self.gradBias = torch.Tensor(1, outputSize):zero()
   end
   self.allcolumns = torch.range(1, outputSize)
   self:resetPartition()
end

-- Returns the module that holds weight and gradWeight.
local function lookup(self) return self.network:get(1):get(2) end

function PartialLinear:parameters()
   local rows = lookup(self)
   return {rows.weight, self.bias}, {rows.gradWeight, self.gradBias}
end

--- Selects the outputs to compute, by their indices and in that order.
-- @function nn.PartialLinear:setPartition
-- @as method
-- @within nn linear
-- @param indices tensor: indices of outputs
-- @return nothing
-- @usage local m = nn.PartialLinear(2, 3)
--    m:setPartition(torch.LongTensor{3, 1})
--    return m:forward(torch.ones(2)):nElement() --> 2
function PartialLinear:setPartition(indices)
   self.partition = indices:type(self.allcolumns:type())
end

--- Selects all outputs again.
-- @function nn.PartialLinear:resetPartition
-- @as method
-- @within nn linear
-- @return nothing
-- @usage local m = nn.PartialLinear(2, 3)
--    m:setPartition(torch.LongTensor{1})
--    m:resetPartition()
--    return m:forward(torch.ones(2)):nElement() --> 3
function PartialLinear:resetPartition()
   self.partition = self.allcolumns
end

-- Returns the selected indices on the weight's device, or nil for all.
local function rows(self, weight)
   if rawequal(self.partition, self.allcolumns) then return nil end
   local index = nn.utils.indexTensor(nil, weight)
   return index:resize(self.partition:nElement()):copy(self.partition)
end

-- Returns weight and bias of the selected outputs.
local function chosen(self)
   local weight, bias = lookup(self).weight, self.bias and self.bias:view(-1)
   local index = rows(self, weight)
   if not index then return weight, bias end
   return weight:index(1, index), bias and bias:index(1, index)
end

function PartialLinear:updateOutput(input)
   local weight, bias = chosen(self)
   lib.linear_forward(self.output, input, weight, bias)
   return self.output
end

function PartialLinear:updateGradInput(_, gradOutput)
   if self.gradInput then
      lib.linear_backward_data(self.gradInput, gradOutput, (chosen(self)))
      return self.gradInput
   end
end

-- Adds the gradients, times scale, to tensors of the sizes of weight and bias.
local function accumulate(self, toWeight, toBias, input, gradOutput, scale)
   toBias = toBias and toBias:view(-1)
   local index = rows(self, toWeight)
   if not index then
      lib.linear_backward_weight(toWeight, toBias, input, gradOutput, scale)
      return
   end
   local n = index:size(1)
   local weight = toWeight.new():resize(n, toWeight:size(2)):zero()
   local bias = toBias and toWeight.new():resize(n):zero()
   lib.linear_backward_weight(weight, bias, input, gradOutput, scale)
   toWeight:indexAdd(1, index, weight)
   if bias then toBias:indexAdd(1, index, bias) end
end

function PartialLinear:accGradParameters(input, gradOutput, scale)
   accumulate(self, lookup(self).gradWeight, self.gradBias, input, gradOutput, scale or 1)
end

function PartialLinear:accUpdateGradParameters(input, gradOutput, lr)
   accumulate(self, lookup(self).weight, self.bias, input, gradOutput, -lr)
end

function PartialLinear:__tostring__()
   return ('%s(%d -> %d)'):format(torch.type(self), self.inputsize, self.outputsize)
      .. (self.bias == nil and ' without bias' or '')
end

return PartialLinear
