--- nn.Padding(dim, pad, nInputDim, value, index): inserts |pad| slices filled with value (0) along
-- a dimension. If pad > 0, index - 1 slices of the input follow the new slices; if pad < 0,
-- index - 1 slices precede them. index defaults to 1, which inserts the slices at the end (pad > 0)
-- or at the start.
-- Invariant: an input whose number of dimensions is not nInputDim is a batch.
-- @function nn.Padding
-- @within nn simple
-- @as layer
-- @param pad number of slices; negative: at the start
-- @param value value of the inserted elements (0)
-- @return a module; forward: a tensor -> a tensor with |pad| more slices along dim
-- @usage nn.Padding(1, 2):forward(torch.Tensor{5, 6}) --> [5 6 0 0]

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local Padding, parent = torch.class('nn.Padding', 'nn.Module')

function Padding:__init(dim, pad, nInputDim, value, index)
   parent.__init(self)
   self.dim, self.pad, self.nInputDim = dim, pad, nInputDim
   self.value = value or 0
   self.index = index or 1
   self.outputSize = torch.LongStorage()
end

--- Returns the dimension that is padded, and how many input slices precede the padding.
-- @function nn.Padding:axis
-- @as author
-- @param input tensor: of any size
-- @return three numbers: the dimension, the number of input slices before the padding, and the
--    number of input slices in total
-- @usage nn.Padding(1, 2):axis(torch.ones(3)) --> 1, 3, 3
function Padding:axis(input)
   local dim = self.dim
   if self.nInputDim and input:dim() ~= self.nInputDim then dim = dim + 1 end
   local length = input:size(dim)
   local before = self.pad > 0 and length - self.index + 1 or self.index - 1
   if before < 0 or before > length then
      fail('nn.Padding: index %d is not in 1..%d', self.index, length + 1)
   end
   return dim, before, length
end

-- Copies the slices around the padding from the plain tensor to the padded one (into), or back.
local function copyParts(self, plain, padded, into)
   local dim, before, length = self:axis(plain)
   for _, part in ipairs{{1, before, 1}, {before + 1, length - before,
      before + 1 + math.abs(self.pad)}} do
      if part[2] > 0 then
         local a, b = plain:narrow(dim, part[1], part[2]), padded:narrow(dim, part[3], part[2])
         if into then b:copy(a) else a:copy(b) end
      end
   end
end

function Padding:updateOutput(input)
   local dim = self:axis(input)
   self.outputSize = input:size()
   self.outputSize[dim] = self.outputSize[dim] + math.abs(self.pad)
   self.output:resize(self.outputSize):fill(self.value)
   copyParts(self, input, self.output, true)
   return self.output
end

function Padding:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   copyParts(self, self.gradInput, gradOutput, false)
   return self.gradInput
end

return Padding
