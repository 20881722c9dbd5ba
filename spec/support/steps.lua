--- Trains steps of a parallel network, and counts its waits.
local dptffi = require 'dpt.ffi'
local dpt = require 'dpt'
local nn = dpt.nn
local same = require 'spec.support.parallel'

local M = {}

--- Returns how often the process has waited for a device since it started.
function M.waits() return tonumber(dptffi.C.dpt_waits()) end

--- Runs one step; returns the loss.
function M.step(net, criterion, input, target)
   net:zeroGradParameters()
   local loss = criterion:forward(net:forward(input), target)
   net:backward(input, criterion:backward(net.output, target))
   net:updateParameters(0.1)
   return loss
end

--- Returns a classifier of N x 2 x 6 x 6 in five classes, with statistics and dropout, as a
-- parallel network without replicas so far.
-- @param count number of devices
function M.network(count)
   local net = nn.Sequential():add(nn.SpatialConvolution(2, 4, 3, 3, 1, 1, 1, 1))
      :add(nn.SpatialBatchNormalization(4)):add(nn.ReLU(true))
      :add(nn.View(-1):setNumInputDims(3)):add(nn.Dropout(0.3)):add(nn.Linear(4 * 36, 5)):cuda()
   return nn.DataParallelTable(1, true):add(net, same.range(count))
end

return M
