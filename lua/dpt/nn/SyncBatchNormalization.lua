--- nn.SyncBatchNormalization(nOutput, eps, momentum, affine): applies nn.BatchNormalization with
-- the mean and variance over the batches of all devices and all ranks of dpt.distributed, or of the
-- group of ranks in the field group. Inputs are NxC, NxCxHxW or have further dimensions.
--
--    net = nn.SyncBatchNormalization.convert(net)   -- before nn.DistributedDataParallel(net)
--
-- Invariant: in training, outputs and gradients equal those of one process with all rows. A rank's
-- statistics are weighted by its number of rows; ranks without rows have no weight. In backward,
-- the sums over ranks weight each rank's gradient as nn.DistributedDataParallel does in that pass,
-- or by rows without it. All ranks must call forward and backward, in which the replicas of an
-- nn.DataParallelTable exchange values (dpt.parallel.dispatch.rendezvous). The module waits for no
-- device, and in evaluation it communicates nothing.
-- @function nn.SyncBatchNormalization
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x nOutput x ... -> the same size
-- @usage nn.SyncBatchNormalization(3):forward(torch.rand(8, 3)):size() --> 8x3
local torch = require 'dpt.tensor'
local groups = require 'dpt.distributed.group'
local options = require 'dpt.distributed.options'
local comm = require 'dpt.comm'
local random = require 'dpt.parallel.dispatch.random'
local rendezvous = require 'dpt.parallel.dispatch.rendezvous'
local exchange = require 'dpt.nn.SyncBatchNormalization.exchange'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local SyncBatchNormalization, parent =
   torch.class('nn.SyncBatchNormalization', 'nn.BatchNormalization')

--- True if replicas exchange data in the middle of the module's passes.
-- @field nn.SyncBatchNormalization.meetsReplicas
-- @as author
-- @return true
-- @usage nn.SyncBatchNormalization.meetsReplicas, nn.BatchNormalization.meetsReplicas --> true, nil
SyncBatchNormalization.meetsReplicas = true

--- Part of the batch that the current pass computes; see nn.L1Penalty.batchPart.
-- @field nn.SyncBatchNormalization.batchPart
-- @as author
-- @return false
-- @usage nn.SyncBatchNormalization.batchPart, nn.BatchNormalization.batchPart --> false, nil
SyncBatchNormalization.batchPart = false

--- Fields that the next forward allocates again.
SyncBatchNormalization.transient = {'mean', 'variance', 'total', 'several', 'normalized', 'rows'}

local NAME = 'nn.SyncBatchNormalization'

function SyncBatchNormalization:batch(input)
   local n = self.running_mean:nElement()
   if input:dim() < 2 or input:size(2) ~= n then
      fail('%s: input of size %s, wanted 2 dimensions or more of which the second has size %d',
         NAME, table.concat(input:size():totable(), 'x'), n)
   end
   return input
end

-- Returns true if statistics are shared by several ranks or replicas.
local function isShared(self)
   if not self.train then return false end
   if rendezvous.replicas() > 1 then return true end
   if random.running() and rendezvous.replicas() == 0 then
      fail('%s: cannot share statistics outside a pass of all replicas', NAME)
   end
   return exchange.ranks(self):size() > 1
end

-- Calls a function of dpt.nn.SyncBatchNormalization.exchange with this replica's value and returns
-- this replica's result.
local function ask(self, what, value, t)
   value.group, value.part = self.group, self.batchPart
   if rendezvous.replicas() > 0 then
      return rendezvous.exchange('dpt.nn.SyncBatchNormalization.exchange', what, value)
   end
   return exchange[what]({value}, comm.device(t), 1)[1]
end

-- Returns the number of elements of each feature.
local function countOf(input)
   local count = 1
   for d = 1, input:dim() do
      if d ~= 2 then count = count * input:size(d) end
   end
   return count
end

-- Returns a tensor with one element for each feature, expanded to the input's sizes.
local function spread(t, input)
   local sizes = {}
   for d = 1, input:dim() do sizes[d] = d == 2 and t:nElement() or 1 end
   return t:view(unpack(sizes)):expandAs(input)
end

-- Returns this rank's count, means and sums of squared differences, concatenated.
local function ownStatistics(self, input, count)
   local n = self.running_mean:nElement()
   local own = self.running_mean.new(2 * n + 1):zero()
   own:narrow(1, 1, 1):fill(count)
   if count == 0 then return own end
   local mean, squares = own:narrow(1, 2, n), own:narrow(1, n + 2, n)
   self.save_mean, self.save_std = self.save_mean or input.new(), self.save_std or input.new()
   lib.batchnorm_forward(self.output, self.save_mean, self.save_std, mean, squares, input, nil, nil,
      1, 1, self.eps)
   if count > 1 then squares:mul(count - 1) else squares:zero() end
   return own
end

-- Computes the statistics of all rows from this replica's.
local function join(self, own)
   local n = self.running_mean:nElement()
   local all = ask(self, 'statistics', {own = own}, own)
   local total, squares = all:narrow(1, 1, 1), all:narrow(1, n + 2, n)
   self.total, self.mean = total:clone():cmax(1), all:narrow(1, 2, n):clone()
   self.variance = torch.cdiv(squares, self.total:expandAs(squares))
   -- For zero rows in total, and for a single value, there are no statistics: the running ones are
   -- used, as in the parent, and do not change.
   self.several = (total - 1):cmax(0):cmin(1)
   local several, none = self.several:expandAs(self.mean), (1 - self.several):expandAs(self.mean)
   self.mean:cmul(several):addcmul(none, self.running_mean)
   self.variance:cmul(several):addcmul(none, self.running_var)
   local moved = self.several * self.momentum
   local unbiased = torch.cdiv(squares, (total - 1):cmax(1):expandAs(squares))
   self.running_mean:add((self.mean - self.running_mean):cmul(moved:expandAs(self.mean)))
   self.running_var:add((unbiased - self.running_var):cmul(moved:expandAs(unbiased)))
end

function SyncBatchNormalization:updateOutput(input)
   if not isShared(self) then return parent.updateOutput(self, input) end
   input = self:batch(input)
   self.rows = countOf(input)
   join(self, ownStatistics(self, input, self.rows))
   self.output:resizeAs(input)
   self.save_mean, self.save_std = self.save_mean or input.new(), self.save_std or input.new()
   if self.rows > 0 then
      lib.batchnorm_forward(self.output, self.save_mean, self.save_std, self.mean, self.variance,
         input, self.weight, self.bias, 0, self.momentum, self.eps)
   end
   self.save_mean:resizeAs(self.mean):copy(self.mean)
   self.save_std:resizeAs(self.variance):copy(self.variance):add(self.eps):pow(-0.5)
   return self.output
end

-- Returns this rank's sums, for each feature, of gradOutput and of gradOutput times the normalized
-- input, as (2, features).
local function ownSums(self, input, gradOutput)
   local n = self.running_mean:nElement()
   local sums = self.running_mean.new(2, n):zero()
   if self.rows > 0 then
      lib.batchnorm_backward(nil, sums[2], sums[1], input, gradOutput, nil, self.mean,
         self.variance, self.save_mean, self.save_std, 1, 1, self.eps)
   end
   return sums
end

local function gradient(self, input, gradOutput, sums)
   local all = ask(self, 'sums', {own = sums, rows = self.rows}, sums):clone()
   self.gradInput:resizeAs(input)
   if self.rows == 0 then return self.gradInput end
   lib.batchnorm_backward(self.gradInput, nil, nil, input, gradOutput, self.weight, self.mean,
      self.variance, self.save_mean, self.save_std, 0, 1, self.eps)
   all:cdiv(self.total:view(1, 1):expandAs(all)):cmul(self.several:view(1, 1):expandAs(all))
   local factor = self.weight and torch.cmul(self.weight, self.save_std) or self.save_std
   all:cmul(factor:view(1, -1):expandAs(all))
   self.normalized = self.normalized or input.new()
   lib.batchnorm_forward(self.normalized, self.save_mean:clone(), self.save_std:clone(), self.mean,
      self.variance, input, nil, nil, 0, self.momentum, self.eps)
   self.gradInput:add(-1, spread(all[1], input))
   self.gradInput:addcmul(-1, spread(all[2], input), self.normalized)
   return self.gradInput
end

local function accumulate(self, sums, scale)
   if not self.affine then return end
   self.gradBias:add(scale or 1, sums[1])
   self.gradWeight:add(scale or 1, sums[2])
end

-- Returns the arguments of a backward as batches. Raises if there was no forward.
local function checked(self, input, gradOutput)
   if not self.mean then dptffi.raise(NAME .. ': backward was called before forward') end
   return self:batch(input), self:batch(gradOutput)
end

function SyncBatchNormalization:backward(input, gradOutput, scale)
   if not isShared(self) then return parent.backward(self, input, gradOutput, scale) end
   input, gradOutput = checked(self, input, gradOutput)
   local sums = ownSums(self, input, gradOutput)
   gradient(self, input, gradOutput, sums)
   accumulate(self, sums, scale)
   return self.gradInput
end

function SyncBatchNormalization:updateGradInput(input, gradOutput)
   if not isShared(self) then return parent.updateGradInput(self, input, gradOutput) end
   input, gradOutput = checked(self, input, gradOutput)
   return gradient(self, input, gradOutput, ownSums(self, input, gradOutput))
end

function SyncBatchNormalization:accGradParameters(input, gradOutput, scale)
   if not isShared(self) then return parent.accGradParameters(self, input, gradOutput, scale) end
   input, gradOutput = checked(self, input, gradOutput)
   accumulate(self, ownSums(self, input, gradOutput), scale)
end

local CONVERTED = {
   ['nn.BatchNormalization'] = true, ['nn.SpatialBatchNormalization'] = true,
   ['nn.VolumetricBatchNormalization'] = true, ['cudnn.BatchNormalization'] = true,
   ['cudnn.SpatialBatchNormalization'] = true, ['cudnn.VolumetricBatchNormalization'] = true,
}

--- Replaces every batch normalization of a network by a synchronized one, with the same tensors as
-- parameters and statistics.
-- @function nn.SyncBatchNormalization.convert
-- @as parallel
-- @within nn data-parallel
-- @follows PyTorch's SyncBatchNorm.convert_sync_batchnorm
-- @also nn.SyncBatchNormalization:convert()
-- @param module module: a network
-- @param options? table: group = of distributed.group: the ranks that share statistics (all); it
--    also applies to layers converted before
-- @return the network, or its replacement if it is a batch normalization itself
-- @usage torch.type(nn.SyncBatchNormalization.convert(nn.BatchNormalization(3)))
--    --> nn.SyncBatchNormalization
function SyncBatchNormalization.convert(module, given)
   local group = options.check(NAME .. '.convert', given, 2, {group = groups.option}).group
   return module:replace(function(one)
      local new = one
      if CONVERTED[torch.type(one)] then
         new = setmetatable({}, SyncBatchNormalization)
         for key, value in next, one do new[key] = value end
      end
      if torch.isTypeOf(new, NAME) then new.group = group end
      return new
   end)
end

return SyncBatchNormalization
