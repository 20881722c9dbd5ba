--- nn.LayerNormalization(nOutput, bias, eps, affine): layer normalization as in Torch7. A batch of
-- one row is normalized to (x - mean) / deviation, then multiplied by a learned weight and shifted
-- by a learned bias (affine). With more rows, as in Torch7, the result of a row depends on the
-- others: of the N rows' means, mean k mod N is subtracted from element k of the whole batch
-- (counted from 0); each row is then divided by its norm.
-- Normalization of each row by itself, as in PyTorch's nn.LayerNorm, is not available as a module;
-- docs/from-pytorch.md builds it from others.
-- Invariant: it is Torch7's chain of modules.
-- @function nn.LayerNormalization
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x nOutput -> the same size
-- @usage local m, x = nn.LayerNormalization(2), torch.Tensor{{1, 3}, {10, 30}}
--    local alone = m:forward(x:narrow(1, 1, 1)):clone()
--    return alone, m:forward(x):narrow(1, 1, 1) --> [-1 1], [-0.08305 -1.412]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local LayerNormalization, parent = torch.class('nn.LayerNormalization', 'nn.Sequential')

function LayerNormalization:__init(nOutput, bias, eps, affine)
   parent.__init(self)
   affine = affine == nil and true or affine
   local mean = nn.Sequential():add(nn.Mean(1, 1)):add(nn.Replicate(nOutput, 1, 1))
   self:add(nn.ConcatTable():add(nn.Identity()):add(mean))
   self:add(nn.CSubTable())
   self:add(nn.Normalize(2, eps or 1e-10))
   self:add(nn.MulConstant(math.sqrt(nOutput)))
   if affine then
      local weight, shift = nn.CMul(nOutput), nn.Add(nOutput)
      weight.weight:fill(1)
      shift.bias:fill(bias or 0)
      self:add(weight):add(shift)
   end
end

return LayerNormalization
