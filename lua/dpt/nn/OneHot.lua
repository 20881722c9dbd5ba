--- nn.OneHot(outputSize): encodes each number 1..outputSize as a vector with a 1 at that index and
-- 0 elsewhere.
-- Invariant: the output has the input's sizes, followed by outputSize; gradInput is zero.
-- @function nn.OneHot
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor of class numbers, or a number -> a tensor with an additional
--    last dimension of size outputSize
-- @usage nn.OneHot(3):forward(torch.LongTensor{2, 1}) --> [0 1 0 1 0 0]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local exactIndices = require 'dpt.nn.exact_indices'
local type = require('dpt.ffi').type

local OneHot, parent = torch.class('nn.OneHot', 'nn.Module')

function OneHot:__init(outputSize)
   parent.__init(self)
   self.outputSize = outputSize
end

-- Raises if the input is in a 16-bit type that cannot represent all indices.
function OneHot:_checkIndices(input) exactIndices(self, input, self.outputSize) end

function OneHot:updateOutput(input)
   local size
   if type(input) == 'number' then
      size = {self.outputSize}
      self._index = nn.utils.indexTensor(self._index, self.output)
      self._index:resize(1):fill(input)
   else
      self:_checkIndices(input)
      size = input:dim() == 0 and {0} or input:size():totable()
      size[#size + 1] = self.outputSize
      self._index = nn.utils.indexTensor(self._index, self.output)
      self._index:resize(input:nElement()):copy(input)
   end
   self.output:resize(torch.LongStorage(size)):zero()
   local count = self._index:nElement()
   if count > 0 then
      self.output:view(count, self.outputSize):scatter(2, self._index:view(count, 1), 1)
   end
   return self.output
end

function OneHot:updateGradInput(input, _)
   if type(input) == 'number' then return 0 end
   self.gradInput:resize(input:size()):zero()
   return self.gradInput
end

function OneHot:type(typename, tensorCache)
   self._index = nil
   return parent.type(self, typename, tensorCache)
end

return OneHot
