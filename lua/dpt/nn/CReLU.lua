--- nn.CReLU(nInputDims, inplace): concatenated ReLU: max(0, x) and max(0, -x), joined along the
-- first dimension after the batch.
-- Invariant: nInputDims counts the dimensions without the batch.
-- @function nn.CReLU
-- @within nn transfer
-- @as layer
-- @return a module; forward: B x C x ... -> B x 2C x ...
-- @usage nn.CReLU(1):forward(torch.Tensor{{-4, 2}}) --> [0 2 4 0]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local CReLU, parent = torch.class('nn.CReLU', 'nn.Sequential')

function CReLU:__init(nInputDims, inplace)
   parent.__init(self)
   self.nInputDims = nInputDims
   self.inplace = inplace or false
   self:add(nn.ConcatTable():add(nn.Identity()):add(nn.MulConstant(-1)))
   self:add(nn.JoinTable(1, nInputDims))
   self:add(nn.ReLU(self.inplace))
end

function CReLU:updateOutput(input)
   if input:dim() ~= self.nInputDims and input:dim() ~= self.nInputDims + 1 then
      fail('nn.CReLU: input has %d dimensions, wanted %d or %d',
         input:dim(), self.nInputDims, self.nInputDims + 1)
   end
   return parent.updateOutput(self, input)
end

function CReLU:__tostring__()
   return 'CReLU()'
end

return CReLU
