--- nn.Embedding(numEmbeddings, embeddingDim, paddingIdx): returns row i of the weight for each
-- index i of the input, a tensor of any size. It is PyTorch's Embedding with indices from 1. It is
-- an nn.LookupTable that accepts any number of dimensions and whose row paddingIdx is zero at first
-- and gets no gradient; a negative paddingIdx is counted from the end. nn.LookupTable's methods set
-- maxNorm, normType and the scaling of gradients by frequency.
-- Invariant: weight and gradWeight are numEmbeddings x embeddingDim, both dense.
--
-- An output layer without bias shares the weight by `share` (the second example); replicas, copies,
-- files and flattened parameters keep the shared memory.
-- @function nn.Embedding
-- @within nn linear
-- @as layer
-- @param numEmbeddings number of rows; the largest index
-- @param embeddingDim size of a row
-- @param paddingIdx index whose row is zero at the beginning and gets no gradient (none)
-- @return a module; forward: indices of any size -> the same size x embeddingDim
-- @follows PyTorch's Embedding
-- @usage nn.Embedding(10, 4):forward(torch.LongTensor(2, 3, 5):fill(7)):size() --> 2x3x5x4
-- @usage local encoder, decoder = nn.Embedding(9, 4), nn.Linear(4, 9, false)
--    decoder:share(encoder, 'weight', 'gradWeight')
--    local net = nn.Sequential():add(encoder):add(nn.Tanh()):add(decoder)
--    return net:forward(torch.LongTensor{{1, 9}}):size(), net:getParameters():size()
--    --> 1x2x9, 36

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local Embedding, parent = torch.class('nn.Embedding', 'nn.LookupTable')
Embedding.outputSplit = Embedding.sameSplit
Embedding._maxDimensions = math.huge

function Embedding:__init(numEmbeddings, embeddingDim, paddingIdx)
   if paddingIdx then
      local row = paddingIdx < 0 and numEmbeddings + 1 + paddingIdx or paddingIdx
      if row < 1 or row > numEmbeddings or row % 1 ~= 0 then
         fail("nn.Embedding: argument 'paddingIdx' is %s, wanted an index from 1 to %d, or from the"
            .. ' end, -1 to %d', paddingIdx, numEmbeddings, -numEmbeddings)
      end
      paddingIdx = row
   end
   parent.__init(self, numEmbeddings, embeddingDim, paddingIdx)
end

--- Draws the weight from N(0, stdv^2), stdv = 1 by default; the padding row becomes zero.
function Embedding:reset(stdv)
   parent.reset(self, stdv)
   if self.paddingValue > 0 then self.weight[self.paddingValue]:zero() end
   return self
end

return Embedding
