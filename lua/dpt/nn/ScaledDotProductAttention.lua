--- nn.ScaledDotProductAttention(options): the attention of queries to keys, softmax(q k^T * scale +
-- mask) v, of a table {q, k, v} or {q, k, v, mask}.
--
-- q is ... x H x L x E, k ... x G x S x E and v ... x G x S x V, with the same leading sizes. G
-- divides H: H / G consecutive heads of q share one of k and v (grouped heads). Tensors N x L x E
-- are a batch without heads, L x E is one sample.
--
-- The mask is broadcast to ... x H x L x S: a ByteTensor, 1 for a key that takes part and 0 for one
-- that does not, or numbers to add to the scores. It has no gradient: gradInput[4] is an empty
-- tensor. nn.DataParallelTable splits a mask with as many dimensions as q, unless its first size is
-- 1. A query without keys has output 0 and gradient 0.
-- Invariant: temporary memory does not grow with L * S. Views whose last stride is 1, such as
-- transposed heads, are not copied.
-- @function nn.ScaledDotProductAttention
-- @within nn attention
-- @as layer
-- @follows PyTorch's scaled_dot_product_attention
-- @param options? causal = true: query i uses the keys 1..i; dropout = probability that a
--    weight becomes 0 in training (0); scale = factor of the scores (1/sqrt(E))
-- @return a module; forward: {q, k, v} or {q, k, v, mask} -> ... x H x L x V
-- @raise if sizes do not fit
-- @usage local q, k = torch.Tensor{{0, 9}}, torch.Tensor{{0, 9}, {9, 0}}
--    local m = nn.ScaledDotProductAttention()
--    return m:forward{q, k, torch.Tensor{{1}, {2}}} --> [1]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local attention = require 'dpt.nn.attention'
local options = require 'dpt.distributed.options'
local dptffi = require 'dpt.ffi'

local Attention, parent = torch.class('nn.ScaledDotProductAttention', 'nn.Module')
Attention.outputSplit = Attention.sameSplit
Attention.transient = attention.transient

local NAMES = {'query', 'key', 'value', 'mask'}

local function fail(format, ...)
   return dptffi.fail('nn.ScaledDotProductAttention: ' .. format, ...)
end

local function sizeOf(t) return table.concat(t:size():totable(), 'x') end

function Attention:__init(given)
   parent.__init(self)
   given = options.check('nn.ScaledDotProductAttention', given, 1, attention.options)
   self.causal = given.causal or false
   self.dropout = given.dropout or 0
   self.scale = given.scale
   self.gradInput = {}
end

-- Returns a tensor with four dimensions: a batch, heads, rows and columns.
local function four(t)
   local d = t:dim()
   if d == 3 then return t:unsqueeze(2) end
   if d == 2 then return t:unsqueeze(1):unsqueeze(1) end
   if d == 4 then return t end
   local count, stride = 1, 1
   for i = d - 3, 1, -1 do
      if t:size(i) ~= 1 then
         if count == 1 then stride = t:stride(i) end
         if t:stride(i) ~= stride * count and t:nElement() > 0 then return four(t:contiguous()) end
         count = count * t:size(i)
      end
   end
   if t:nElement() == 0 then return t.new(count, t:size(d - 2), t:size(d - 1), t:size(d)) end
   return t.new():set(t:storage(), t:storageOffset(), count, stride, t:size(d - 2), t:stride(d - 2),
      t:size(d - 1), t:stride(d - 1), t:size(d), t:stride(d))
end

-- Returns the mask with four dimensions, whose sizes of 1 are still to be broadcast.
local function maskFor(q, k, mask)
   local d = q:dim()
   if mask:dim() == 0 and k:size(d - 1) == 0 then return nil end -- an empty vector
   if mask:dim() > d or mask:dim() == 0 then
      fail("argument 'mask' is of size %s, wanted 1 to %d dimensions, as many as the query's",
         sizeOf(mask), d)
   end
   while mask:dim() < d do mask = mask:unsqueeze(1) end
   local sizes, isBroadcast = mask:size(), true
   for i = 1, d - 3 do
      isBroadcast = isBroadcast and mask:size(i) == 1
      sizes[i] = q:size(i)
   end
   return four((d <= 4 or isBroadcast) and mask or mask:expand(sizes))
end

-- Returns q, k, v and the mask with four dimensions.
local function operands(input)
   local list = {}
   for i = 1, 4 do
      local t = input[i]
      if torch.isTensor(t) then
         if i <= 3 and (t:dim() < 2 or t:dim() ~= input[1]:dim()) then
            fail("argument '%s' is of size %s, wanted %s", NAMES[i], sizeOf(t), i == 1
               and 'at least two dimensions' or input[1]:dim() .. ' dimensions, as the query has')
         end
         for d = 1, i <= 3 and t:dim() - 3 or 0 do
            if t:size(d) ~= input[1]:size(d) then
               fail("argument '%s' is of size %s, wanted size %d in dimension %d, as the query has",
                  NAMES[i], sizeOf(t), input[1]:size(d), d)
            end
         end
         if i < 4 then list[i] = four(t) else list[4] = maskFor(input[1], input[2], t) end
      elseif i <= 3 or t ~= nil then
         fail("argument 'input': wanted a table {query, key, value} or {query, key, value, mask},"
            .. ' got a %s as entry %d', torch.type(t), i)
      end
   end
   return list[1], list[2], list[3], list[4]
end

-- Gives a result of four dimensions the sizes of t, except the last one, of size `columns`.
local function reshape(result, t, columns)
   local sizes = t:size()
   sizes[t:dim()] = columns
   return result:resize(sizes)
end

function Attention:updateOutput(input)
   local q, k, v, mask = operands(input)
   attention.forward(self, self.output, q, k, v, mask, 0, input[1]:dim() > 2 and q:size(1) or 0)
   return reshape(self.output, input[1], v:size(4))
end

function Attention:updateGradInput(input, gradOutput)
   attention.checkForward(self)
   local q, k, v, mask = operands(input)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   attention.backward(self, self.gradInput[1], self.gradInput[2], self.gradInput[3], q, k, v, mask,
      four(self.output), four(gradOutput))
   for i = 1, 3 do reshape(self.gradInput[i], input[i], input[i]:size(input[i]:dim())) end
   if mask then self.gradInput[4]:resize(0) end
   return self.gradInput
end

--- Returns the dimension along which nn.DataParallelTable splits each entry: its own; every replica
-- gets the whole mask if the mask is the same for all rows of the batch.
function Attention:inputSplit(input)
   local q, mask = input[1], input[4]
   attention.checkBatch(self, 'query', q, 'at least three dimensions')
   if torch.isTensor(mask) and (mask:dim() < q:dim() or mask:size(1) == 1) then
      return {[4] = 'replicate'}
   end
end

return Attention
