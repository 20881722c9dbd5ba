--- nn.LayerNorm(normalizedShape, eps, elementwiseAffine, bias): normalizes each row of its input by
-- itself: y = (x - mean) / sqrt(var + eps) * weight + bias. A row has the last dimensions of the
-- input, of the sizes normalizedShape; weight and bias have these sizes.
-- Unlike Torch7's nn.LayerNormalization, a row does not depend on the others.
-- Invariant: the variance is the biased one.
-- @function nn.LayerNorm
-- @within nn normalization
-- @as layer
-- @follows PyTorch's LayerNorm
-- @param normalizedShape number, table or LongStorage: sizes of the last dimensions
-- @param elementwiseAffine? false: no weight and no bias
-- @param bias? false: no bias
-- @return a module; forward: any leading sizes x normalizedShape -> the same size
-- @raise if the last sizes of the input are not normalizedShape
-- @usage nn.LayerNorm(2):forward(torch.Tensor{{1, 3}, {10, 30}}) --> [-1 1 -1 1]

local torch = require 'dpt.tensor'
local normalization = require 'dpt.nn.normalization'

local LayerNorm, parent = torch.class('nn.LayerNorm', 'nn.Module')

function LayerNorm:__init(normalizedShape, eps, elementwiseAffine, bias)
   parent.__init(self)
   self.normalizedShape = normalization.shapeOf(self, normalizedShape)
   self.eps = eps or 1e-5
   if elementwiseAffine ~= false then
      normalization.allocate(self, self.normalizedShape, bias ~= false)
   end
end

normalization.define(LayerNorm, parent, normalization.splitRows, 0)

LayerNorm.__tostring__ = normalization.text

return LayerNorm
