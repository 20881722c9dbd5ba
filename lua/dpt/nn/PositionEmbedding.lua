--- nn.PositionEmbedding(numPositions, dim): adds row i of a learned weight, numPositions x dim, to
-- position i of its input.
--
-- In evaluation, nn.utils.beginCache makes the next forward continue after the positions that the
-- module has seen.
-- Invariant: gradWeight sums over the batch; the gradient of the input is gradOutput.
-- @function nn.PositionEmbedding
-- @within nn attention
-- @as layer
-- @follows the learned positions of GPT-2; initialized as PyTorch's Embedding, from N(0, 1)
-- @param numPositions the largest number of positions
-- @param dim features of a position
-- @return a module; forward: N x L x dim or L x dim -> the same size
-- @raise if L is above numPositions
-- @usage local m = nn.PositionEmbedding(3, 1)
--    m.weight:copy(torch.Tensor{{1}, {2}, {3}})
--    return m:forward(torch.Tensor{{10}, {20}}) --> [11 22]

local torch = require 'dpt.tensor'
local attention = require 'dpt.nn.attention'
local broadcast = require 'dpt.nn.broadcast'
local options = require 'dpt.distributed.options'
local captured = require 'dpt.device.captured'
local dptffi = require 'dpt.ffi'

local PositionEmbedding, parent = torch.class('nn.PositionEmbedding', 'nn.Module')
PositionEmbedding.outputSplit = PositionEmbedding.sameSplit
PositionEmbedding.transient = {'cache_'}

local function fail(format, ...) return dptffi.fail('nn.PositionEmbedding: ' .. format, ...) end

function PositionEmbedding:__init(numPositions, dim)
   parent.__init(self)
   for name, value in pairs{numPositions = numPositions, dim = dim} do
      if not options.isCount(value) then
         fail("argument '%s' is %s, wanted a number from 1 on", name, value)
      end
   end
   self.weight = torch.Tensor(numPositions, dim)
   self.gradWeight = torch.Tensor(numPositions, dim):zero()
   self:reset()
end

--- Draws the weight from N(0, stdv), by default N(0, 1).
function PositionEmbedding:reset(stdv)
   self.weight:normal(0, stdv or 1)
   return self
end

-- Returns the number of positions of an input. Raises if there are too many after those seen.
local function positionsOf(self, input, seen)
   local d, weight = input:dim(), self.weight
   if d < 2 or d > 3 or input:size(d) ~= weight:size(2) then
      fail("argument 'input' is of size %s, wanted N x L x %d",
         table.concat(input:size():totable(), 'x'), weight:size(2))
   end
   attention.checkReal(self, input)
   local count, most = input:size(d - 1), weight:size(1)
   local capacity = self.cache_ and self.cache_.capacity or most
   if seen + count > math.min(most, capacity) then
      fail("argument 'input' has %d positions%s, wanted at most %d, %s", count,
         seen > 0 and (' after %d in the cache'):format(seen) or '', math.min(most, capacity),
         capacity < most and 'the capacity of nn.utils.beginCache' or 'numPositions')
   end
   return count
end

function PositionEmbedding:updateOutput(input)
   local cache = self.cache_
   local seen = cache and cache.seen or 0
   local count = positionsOf(self, input, seen)
   if cache then
      if self.train ~= false then
         fail 'forward in training with a cache; call evaluate(), or nn.utils.endCache'
      end
      if captured.notes then fail 'a captured graph cannot use a cache, which grows' end
   end
   self.output:resizeAs(input)
   if count > 0 then
      self.output:add(torch.broadcast(input, self.weight:narrow(1, seen + 1, count)))
   end
   if cache then cache.seen = seen + count end
   return self.output
end

function PositionEmbedding:updateGradInput(_, gradOutput)
   if self.cache_ then fail 'backward during a cache; call nn.utils.endCache first' end
   return self.gradInput:resizeAs(gradOutput):copy(gradOutput)
end

function PositionEmbedding:accGradParameters(input, gradOutput, scale)
   local count = positionsOf(self, input, 0)
   broadcast.accumulate(self.gradWeight:narrow(1, 1, count), scale or 1, gradOutput)
end

--- Returns nothing, so that nn.DataParallelTable splits its dimension; raises without a batch.
function PositionEmbedding:inputSplit(input)
   attention.checkBatch(self, 'input', input, 'N x L x ' .. self.weight:size(2))
end

function PositionEmbedding:beginCache(capacity)
   self.cache_ = {capacity = capacity, seen = 0}
end
function PositionEmbedding:endCache()
   self.cache_ = nil
end

return PositionEmbedding
