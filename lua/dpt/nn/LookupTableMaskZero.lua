--- nn.LookupTableMaskZero(nIndex, nOutput): nn.LookupTable that returns zeros for index 0.
-- Invariant: row i + 1 of the weight belongs to index i; row 1 is zero and gets no gradient.
-- @function nn.LookupTableMaskZero
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: B x T or T numbers 0..nIndex -> B x T x nOutput or T x nOutput
-- @usage nn.LookupTableMaskZero(10, 2):forward(torch.LongTensor{0}) --> [0 0]

local torch = require 'dpt.tensor'

local LookupTableMaskZero, parent = torch.class('nn.LookupTableMaskZero', 'nn.LookupTable')

function LookupTableMaskZero:__init(nIndex, nOutput)
   parent.__init(self, nIndex + 1, nOutput, 1)
end

function LookupTableMaskZero:indices(input)
   local indices = parent.indices(self, input)
   self.shifted_ = self.shifted_ and self.shifted_:type() == indices:type() and self.shifted_
      or indices.new()
   return self.shifted_:resize(indices:size()):copy(indices):add(1)
end

function LookupTableMaskZero:updateOutput(input)
   self.weight:select(1, 1):zero()
   return parent.updateOutput(self, input)
end

function LookupTableMaskZero:type(typename, tensorCache)
   if typename then self.shifted_ = nil end
   return parent.type(self, typename, tensorCache)
end

function LookupTableMaskZero:clearState()
   self.shifted_ = nil
   return parent.clearState(self)
end

return LookupTableMaskZero
