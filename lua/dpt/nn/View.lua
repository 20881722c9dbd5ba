--- nn.View(sizes): reshapes the input without a copy; one size may be -1.
-- Invariant: an input with more elements than the sizes is a batch; the output has the batch as its
-- first dimension. After setNumInputDims(n), only the last n dimensions are reshaped and all before
-- them are the batch.
-- @function nn.View
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> a view with other sizes
-- @usage nn.View(-1):setNumInputDims(2):forward(torch.ones(4, 2, 3)):size() --> 4x6

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, raise, type = dptffi.fail, dptffi.raise, dptffi.type

local View, parent = torch.class('nn.View', 'nn.Module')

function View:__init(...)
   parent.__init(self)
   self:resetSize(...)
   self.numInputDims = nil
end

--- Replaces the sizes, given as numbers or a LongStorage.
-- @function nn.View:resetSize
-- @as method
-- @within nn simple
-- @param sizes number: one for each dimension; or a LongStorage
-- @return the module
-- @usage nn.View(6):resetSize(3, 2):forward(torch.ones(6)):size() --> 3x2
function View:resetSize(...)
   local first = ...
   local sizes = type(first) == 'number' and {...} or first:totable()
   self.size = torch.LongStorage(sizes)
   self.numElements = 1
   local open = false
   for _, n in ipairs(sizes) do
      if n == -1 then
         if open then raise('nn.View: only one of the sizes may be -1') end
         open = true
      else
         self.numElements = self.numElements * n
      end
   end
   return self
end

--- Sets the number of dimensions of a sample, which tells samples from batches.
-- @function nn.View:setNumInputDims
-- @as method
-- @within nn simple
-- @param numInputDims number: dimensions of a sample, without the batch
-- @return the module
-- @usage nn.View(6):setNumInputDims(2):forward(torch.ones(5, 3, 2)):size() --> 5x6
function View:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

--- Returns the sizes of the output: self.size, after the batch size if the input is a batch.
-- @function nn.View:outputSize
-- @as author
-- @param input tensor: of any size
-- @return a LongStorage
-- @usage nn.View(2, 3):outputSize(torch.ones(6)) --> 2x3
function View:outputSize(input)
   local dims, seen, batch = input:dim(), 1, 1
   local numSeen = self.numInputDims or dims
   for d = 1, dims do
      if d > dims - numSeen then seen = seen * input:size(d) else batch = batch * input:size(d) end
   end
   if seen % self.numElements ~= 0 then
      fail('nn.View: input of size %s does not divide into views of size %s',
         table.concat(input:size():totable(), 'x'), table.concat(self.size:totable(), 'x'))
   end
   local sizes = self.size:totable()
   local open = false
   for _, n in ipairs(sizes) do open = open or n == -1 end
   if not open then batch = batch * seen / self.numElements end
   if batch ~= 1 or (self.numInputDims and dims > self.numInputDims) then
      table.insert(sizes, 1, batch)
   end
   return torch.LongStorage(sizes)
end

function View:updateOutput(input)
   self.output = nn.utils.viewAgain(self.output, input, self:outputSize(input))
   return self.output
end

function View:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.viewAgain(self.gradInput, gradOutput, input:size())
   return self.gradInput
end

function View:__tostring__()
   return torch.type(self) .. '(' .. table.concat(self.size:totable(), ', ') .. ')'
end

return View
