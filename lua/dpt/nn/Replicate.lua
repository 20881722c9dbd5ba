--- nn.Replicate(nFeatures, dim, nDim): repeats the input nFeatures times along a new dimension dim
-- (1).
-- Invariant: output is a view with stride 0. Inputs with more than nDim dimensions are batches, and
-- dim then does not count the batch.
-- @function nn.Replicate
-- @within nn simple
-- @as layer
-- @param nFeatures number of repetitions
-- @return a module; forward: a tensor -> one with an additional dimension of size nFeatures
-- @usage nn.Replicate(3):forward(torch.ones(4, 5)):size() --> 3x4x5

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, raise, type = dptffi.fail, dptffi.raise, dptffi.type

local Replicate, parent = torch.class('nn.Replicate', 'nn.Module')

function Replicate:__init(nFeatures, dim, nDim)
   parent.__init(self)
   self.nfeatures = nFeatures
   self.dim = dim or 1
   self.ndim = nDim
   if self.dim % 1 ~= 0 or self.dim < 1 then -- NaN % 1 is NaN
      raise("nn.Replicate: argument 'dim' is " .. self.dim .. ', wanted a positive integer')
   end
end

--- Returns the index of the new dimension.
-- @function nn.Replicate:axis
-- @as author
-- @param input tensor: of any size
-- @return a number
-- @usage nn.Replicate(3, 1, 1):axis(torch.ones(2, 2)) --> 2
function Replicate:axis(input)
   if self.ndim and input:dim() > self.ndim then return self.dim + 1 end
   return self.dim
end

function Replicate:updateOutput(input)
   local dim = self:axis(input)
   if type(dim) ~= 'number' or not (dim >= 1 and dim <= input:dim() + 1) then
      fail('nn.Replicate: dimension %s is not in 1..%d', tostring(dim), input:dim() + 1)
   end
   local size, stride = input:size():totable(), input:stride():totable()
   table.insert(size, dim, self.nfeatures)
   if input:nElement() == 0 then -- no memory to view
      self.output = input.new(torch.LongStorage(size))
      return self.output
   end
   table.insert(stride, dim, 0)
   self.output:set(input:storage(), input:storageOffset(), torch.LongStorage(size),
      torch.LongStorage(stride))
   return self.output
end

function Replicate:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   local sum = gradOutput:sum(self:axis(input))
   self.gradInput:copy(sum)
   return self.gradInput
end

return Replicate
