--- A training program that is killed and resumes in another process, for
-- spec/nn/DataParallelTable_resume_spec.lua: begin() or load(path), then steps(run, count).
--
-- Invariant: the program has no state outside its checkpoint.
require 'dpt'
local buckets = require 'dpt.parallel.params.buckets'

buckets.first, buckets.rest = 100, 100 -- bytes: small networks have several

local M = {}

-- Networks with rows of 6, with every kind of module that draws, and with statistics.
local networks = {
   layers = function()
      return nn.Sequential():add(nn.Linear(6, 8)):add(nn.Dropout(0.3)):add(nn.BatchNormalization(8))
         :add(nn.RReLU()):add(nn.Linear(8, 6)):add(nn.WhiteNoise(0, 0.1)):add(nn.View(-1, 3, 2, 1))
         :add(nn.SpatialDropout(0.3)):add(nn.View(-1, 6)):add(nn.Dropout(0.5)):add(nn.Linear(6, 3))
         :add(nn.LogSoftMax())
   end,
   recurrent = function()
      return nn.Sequential():add(nn.View(-1, 3, 2)):add(cudnn.LSTM(2, 4, 2, true, 0.25))
         :add(nn.SplitTable(2)):add(nn.Sequencer(nn.Dropout(0.2))):add(nn.SelectTable(3))
         :add(nn.Linear(4, 3)):add(nn.LogSoftMax())
   end,
}

--- @param network layers or recurrent
-- @param method of optim
-- @param threads true if replicas run in threads
function M.begin(network, method, threads)
   torch.manualSeed(3)
   local devices = {}
   for i = 1, math.min(3, cutorch.getDeviceCount()) do devices[i] = i end
   return {net = nn.DataParallelTable(1, true):add(networks[network]():cuda(), devices),
      criterion = nn.ClassNLLCriterion():cuda(), method = method, threads = threads,
      optim = {learningRate = 0.01, momentum = 0.9}}
end

function M.save(path, run)
   torch.save(path, {run = run, rng = torch.getRNGState(), cuda = cutorch.getRNGStateAll()})
end

function M.load(path)
   local checkpoint = torch.load(path)
   torch.setRNGState(checkpoint.rng)
   cutorch.setRNGStateAll(checkpoint.cuda)
   return checkpoint.run
end

--- Trains; returns the parameters, and the optimizer's state for them.
function M.steps(run, count)
   if run.threads then run.net:threads() end
   local parameters, gradients = run.net:getParameters()
   for _ = 1, count do
      local x, y = torch.randn(10, 6):cuda(), torch.CudaTensor(10):random(1, 3)
      optim[run.method](function()
         gradients:zero()
         local loss = run.criterion:forward(run.net:forward(x), y)
         run.net:backward(x, run.criterion:backward(run.net.output, y))
         return loss, gradients
      end, parameters, run.optim)
   end
   return {parameters:double(), (run.optim.m or run.optim.dfdx):double(),
      run.net:get(1):forward(torch.ones(2, 6):cuda()):double()}
end

return M
