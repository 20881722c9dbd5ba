--- nn.RotaryEmbedding(dim, base, interleaved): marks the position of each row by a rotation, so
-- that products of two rows depend on the distance of their positions: features i and i + dim / 2
-- of row p, counted from 0, are rotated by the angle p / base^(2 i / dim).
-- Invariant: norms of rows do not change; the gradient is rotated back.
-- @function nn.RotaryEmbedding
-- @within nn attention
-- @as layer
-- @follows Su et al., 2021 (RoFormer), whose pairs are 2i and 2i + 1; the default pairs are those
--    of Llama and Hugging Face
-- @param dim number of features, even
-- @param base? number: (10000)
-- @param interleaved? true: features 2i and 2i + 1 are a pair
-- @return a module; forward: ... x L x dim -> the same size
-- @raise if dim is odd, or the last size of the input is not dim
-- @usage nn.RotaryEmbedding(2):forward(torch.Tensor{{1, 0}, {1, 0}}) --> [1 0 0.5403 0.8415]

local torch = require 'dpt.tensor'
local attention = require 'dpt.nn.attention'
local rotary = require 'dpt.nn.rotary'
local options = require 'dpt.distributed.options'
local fail = require('dpt.ffi').fail

local RotaryEmbedding, parent = torch.class('nn.RotaryEmbedding', 'nn.Module')
RotaryEmbedding.outputSplit = RotaryEmbedding.sameSplit
RotaryEmbedding.transient = {'rotations_'}

function RotaryEmbedding:__init(dim, base, interleaved)
   parent.__init(self)
   self.dim, self.base, self.interleaved = dim, base or 10000, interleaved or false
   if not options.isCount(dim) or dim % 2 ~= 0 then
      fail("nn.RotaryEmbedding: argument 'dim' is %s, wanted an even number above 0", dim)
   end
   if not (self.base > 0 and self.base < math.huge) then
      fail("nn.RotaryEmbedding: argument 'base' is %s, wanted a number above 0", self.base)
   end
end

local function rotated(self, result, x, sign)
   result:resizeAs(x):copy(x)
   rotary.rotate(self, result, self.base, 0, self.interleaved, sign)
   return result
end

function RotaryEmbedding:updateOutput(input)
   if input:dim() < 2 or input:size(input:dim()) ~= self.dim then
      fail("nn.RotaryEmbedding: argument 'input' is of size %s, wanted ... x L x %d",
         table.concat(input:size():totable(), 'x'), self.dim)
   end
   attention.checkReal(self, input)
   return rotated(self, self.output, input, 1)
end

function RotaryEmbedding:updateGradInput(_, gradOutput)
   return rotated(self, self.gradInput, gradOutput, -1)
end

--- Returns nothing, so that nn.DataParallelTable splits its dimension; raises without a batch.
function RotaryEmbedding:inputSplit(input)
   attention.checkBatch(self, 'input', input, 'N x L x ' .. self.dim)
end

return RotaryEmbedding
