--- nn.LayerNormalization(nOutput, bias, eps, affine): x less its mean, divided by its deviation,
-- times a learned weight plus a learned bias (affine).
-- Invariant: it is Torch7's chain of modules, and in one point that is not what the name promises:
-- for a batch NxD the N means are taken from the elements in turn, element k of the whole batch
-- (from 0) less mean k mod N, so rows are not independent of each other.
-- @function nn.LayerNormalization
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x nOutput -> the same size
-- @usage nn.LayerNormalization(2):forward(torch.Tensor{{1, 3}}):size() --> 1x2

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
