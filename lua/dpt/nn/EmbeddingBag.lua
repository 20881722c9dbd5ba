--- nn.EmbeddingBag(numEmbeddings, embeddingDim, mode): returns for each bag of indices the sum, the
-- mean or the largest elements of the rows of the weight. The input is a matrix with one bag in
-- each row, or {indices, offsets}: bag i begins at position offsets[i] of the vector of indices and
-- ends where the next one begins. The output of an empty bag is zero. It is PyTorch's EmbeddingBag
-- with indices and offsets from 1. nn.LookupTable's methods set maxNorm, normType and, except for
-- the mode 'max', the scaling of gradients by frequency.
-- Invariant: offsets begin with 1, never decrease, and are at most the number of indices + 1. They
-- are read on the host: offsets on a device make forward wait. nn.DataParallelTable splits the
-- matrix; it cannot split {indices, offsets}.
-- @function nn.EmbeddingBag
-- @within nn linear
-- @as layer
-- @param numEmbeddings number of rows; the largest index
-- @param embeddingDim size of a row
-- @param mode 'sum', 'mean' or 'max' ('mean')
-- @return a module; forward: N x B indices, or {indices, N offsets} -> N x embeddingDim
-- @follows PyTorch's EmbeddingBag
-- @usage local m = nn.EmbeddingBag(4, 2, 'sum')
--    m.weight:copy(torch.Tensor{{1, 1}, {2, 2}, {3, 3}, {4, 4}})
--    return m:forward(torch.LongTensor{{1, 4}, {2, 2}}):clone(),
--       m:forward{torch.LongTensor{1, 4, 2}, torch.LongTensor{1, 3}}
--    --> [5 5 4 4], [5 5 2 2]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local describeSize = require('dpt.tensor.core').describeSize
local exactIndices = require 'dpt.nn.exact_indices'
local dptffi = require 'dpt.ffi'
local fail, lib, type = dptffi.fail, dptffi.lib, dptffi.type

local EmbeddingBag, parent = torch.class('nn.EmbeddingBag', 'nn.LookupTable')
EmbeddingBag.transient = {'bags', 'rows', 'chosen'}

function EmbeddingBag:__init(numEmbeddings, embeddingDim, mode)
   self.mode = mode or 'mean'
   if self.mode ~= 'sum' and self.mode ~= 'mean' and self.mode ~= 'max' then
      fail("nn.EmbeddingBag: argument 'mode' is %s, wanted sum, mean or max", self.mode)
   end
   parent.__init(self, numEmbeddings, embeddingDim)
end

-- Returns the number of indices in each bag and the bag of each index, two LongTensors.
local function bagsOf(offsets, n)
   local N = offsets:nElement()
   local counts = torch.LongTensor(N):fill(n + 1)
   if N > 1 then counts:narrow(1, 1, N - 1):copy(offsets:narrow(1, 2, N - 1)) end
   counts:csub(offsets)
   if N == 0 and n > 0 or N > 0 and (offsets[1] ~= 1 or counts:min() < 0) then
      fail("nn.EmbeddingBag: argument 'offsets' does not begin with 1, or decreases, or exceeds %d,"
         .. ' the number of indices + 1', n + 1)
   end
   local bag = torch.LongTensor(n + 1):zero()
   if N > 0 then bag:indexAdd(1, offsets, torch.LongTensor(N):fill(1)) end
   return counts, bag:cumsum(1):narrow(1, 1, n)
end

-- Returns a matrix of the indices with one bag in each row. A shorter bag repeats its last index,
-- which does not change the largest elements.
local function matrix(indices, offsets, counts)
   local N, longest = counts:nElement(), counts:max()
   local size = torch.LongStorage{N, longest}
   local last = counts:clone():add(-1):cmax(0):view(N, 1):expand(size)
   local at = torch.range(0, longest - 1):long():view(1, longest):expand(size):clone():cmin(last)
   at:add(offsets:view(N, 1):expand(size)):cmin(indices:nElement())
   return indices:index(1, at:view(-1):typeAs(nn.utils.indexTensor(nil, indices))):view(size)
end

-- Raises if indices or offsets are in a 16-bit type that cannot represent all of them.
function EmbeddingBag:_checkIndices(input)
   local indices, offsets = input, nil
   if type(input) == 'table' then indices, offsets = input[1], input[2] end
   parent._checkIndices(self, indices)
   if offsets ~= nil then exactIndices(self, offsets, indices:nElement() + 1) end
end

-- Returns the indices of an input on the weight's device, and the offsets of a table.
local function read(self, input)
   local indices, offsets, isTable = input, nil, type(input) == 'table'
   if isTable then indices, offsets = input[1], input[2] end
   if not torch.isTensor(indices) or isTable and not torch.isTensor(offsets)
      or indices:dim() ~= (isTable and 1 or 2) and indices:nElement() > 0
      or isTable and offsets:dim() > 1 then
      fail('nn.EmbeddingBag: input wants N x B indices or {indices, offsets}, both vectors')
   end
   self:_checkIndices(input)
   return self:indices(indices), offsets
end

-- Returns what backward must know of the bags: N; the size of the indices; for a table also the
-- offsets, the number of indices in each bag and the bag of each index.
local function describe(indices, offsets)
   local bags = {size = describeSize(indices)}
   if not offsets then
      bags.N = indices:dim() > 0 and indices:size(1) or 0
      return bags
   end
   bags.N, bags.offsets = offsets:nElement(), offsets:type('torch.LongTensor'):contiguous()
   bags.counts, bags.bag = bagsOf(bags.offsets, indices:nElement())
   return bags
end

-- Returns a tensor of the weight's type that has the counts, at least 1, in every column.
local function divisors(self, bags)
   return bags.counts:clone():cmax(1):typeAs(self.weight):view(bags.N, 1):expand(bags.N,
      self.weight:size(2))
end

-- Sets the rows of empty bags to zero.
local function clearEmpty(t, bags)
   local empty = bags.counts and bags.counts:eq(0)
   if empty and empty:max() > 0 then t:indexFill(1, empty:nonzero():view(-1), 0) end
end

function EmbeddingBag:updateOutput(input)
   self.bags = nil
   local indices, offsets = read(self, input)
   local bags, D = describe(indices, offsets), self.weight:size(2)
   local N = bags.N
   if indices:nElement() == 0 then
      self.output:resize(N, D):zero()
      self.bags = bags
      return self.output
   end
   self:renorm(indices)
   if offsets and self.mode == 'max' then indices = matrix(indices, bags.offsets, bags.counts) end
   self.rows = self.rows or self.weight.new()
   lib.lookup_forward(self.rows, self.weight, indices)
   if self.mode == 'max' then
      local _, at = self.output:max(self.rows, 2)
      self.chosen = indices:type(at:type()):unsqueeze(3):expandAs(self.rows):gather(2, at)
         :view(N, D)
   elseif offsets then
      self.output:resize(N, D):zero():indexAdd(1, bags.bag, self.rows)
      if self.mode == 'mean' then self.output:cdiv(divisors(self, bags)) end
   else
      self.output:sum(self.rows, 2)
      if self.mode == 'mean' then self.output:div(indices:size(2)) end
   end
   clearEmpty(self.output:resize(N, D), bags)
   self.bags = bags
   return self.output
end

--- Returns zeros: indices and offsets have no gradient.
function EmbeddingBag:updateGradInput(input, gradOutput)
   if type(input) ~= 'table' then
      if type(self.gradInput) == 'table' then self.gradInput = input.new() end
      return parent.updateGradInput(self, input, gradOutput)
   end
   read(self, input)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, {input[1], input[2]})
   for i, t in ipairs(self.gradInput) do t:resizeAs(input[i]):zero() end
   return self.gradInput
end

function EmbeddingBag:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local indices, offsets = read(self, input)
   local bags = self.bags
   if not bags or bags.size ~= describeSize(indices) or not bags.offsets ~= not offsets then
      fail("nn.EmbeddingBag: argument 'input' is not the input of the last forward")
   elseif not gradOutput:isSameSizeAs(self.output) then
      fail("nn.EmbeddingBag: argument 'gradOutput' is a %s, wanted the size of a %s",
         describeSize(gradOutput), describeSize(self.output))
   end
   if indices:nElement() == 0 then return end
   if self.mode == 'max' then
      local gradient = gradOutput:typeAs(self.gradWeight) * scale
      clearEmpty(gradient, bags)
      self.gradWeight:scatterAdd(1, self.chosen, gradient)
      return
   end
   if offsets then
      if self.mode == 'mean' then gradOutput = torch.cdiv(gradOutput, divisors(self, bags)) end
      gradOutput = gradOutput:index(1, bags.bag)
   else
      local B = indices:size(2)
      if self.mode == 'mean' then scale = scale / B end
      gradOutput = gradOutput:unsqueeze(2):expand(bags.N, B, self.weight:size(2))
   end
   lib.lookup_backward(self.gradWeight, indices, gradOutput, self.paddingValue,
      self.shouldScaleGradByFreq and 1 or 0, scale)
end

return EmbeddingBag
