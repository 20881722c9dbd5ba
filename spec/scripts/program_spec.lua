--- A complete program with options, logs and checkpoints, in a child process: with several devices,
-- with one, with none.
local run = require 'spec.support.run'

local program = [[
   require 'dpt'
   require 'torch'
   require 'nn'
   require 'optim'
   require 'paths'
   require 'xlua'
   local folder = os.tmpname()
   os.remove(folder)
   local cmd = torch.CmdLine()
   cmd:text()
   cmd:text('Options:')
   cmd:option('-save', folder, 'folder')
   cmd:option('-seed', 4, 'seed')
   cmd:option('-batchSize', 8, 'rows')
   cmd:option('-epochs', 10, 'epochs')
   cmd:option('-gpu', 1, '0 for the CPU')
   cmd:option('-LR', 0.3, 'learning rate')
   cmd:option('-plot', false, 'plot')
   opt = cmd:parse{'-LR', '0.2', '-batchSize', '6'}
   opt.name = cmd:string('run', opt, {save = true, plot = true, gpu = true})
   paths.mkdir(opt.save)
   cmd:addTime('demo', '%F')
   torch.manualSeed(opt.seed)
   torch.setnumthreads(1)
   torch.setdefaulttensortype('torch.FloatTensor')
   if not cutorch then opt.gpu = 0 end
   if opt.gpu > 0 then
      require 'cunn'
      require 'cudnn'
      cutorch.setDevice(opt.gpu)
      cutorch.manualSeedAll(opt.seed)
   end

   local classes = {'one', 'two', 'three'}
   local data = {x = torch.randn(30, 5), y = torch.Tensor(30)}
   local hidden = torch.randn(5, 3)
   data.y:copy(select(2, (data.x * hidden):max(2)))
   function data:size() return self.x:size(1) end
   setmetatable(data, {__index = function(self, i) return {self.x[i], self.y[i]} end})

   local model = nn.Sequential():add(nn.Linear(5, 16)):add(nn.ReLU(true)):add(nn.Linear(16, 3))
      :add(nn.LogSoftMax())
   local criterion = nn.ClassNLLCriterion()
   if opt.gpu > 0 then
      model:cuda()
      criterion:cuda()
      local n = cutorch.getDeviceCount()
      if n > 1 then
         model = nn.DataParallelTable(1, true):add(model, torch.range(1, n):totable()):cuda()
      end
   end
   local parameters, gradients = model:getParameters()
   local state = {learningRate = opt.LR, momentum = 0.9, learningRateDecay = 1e-4}
   local confusion = optim.ConfusionMatrix(classes)
   local logger = optim.Logger(paths.concat(opt.save, 'logs', 'train.log'))
   logger:setNames{'loss', 'accuracy'}
   local best
   for epoch = 1, opt.epochs do
      confusion:zero()
      local shuffle, sum, batches = torch.randperm(data:size()), 0, 0
      model:training()
      for t = 1, data:size(), opt.batchSize do
         xlua.progress(math.min(t + opt.batchSize, data:size()), data:size())
         local count = math.min(opt.batchSize, data:size() - t + 1)
         local inputs, targets = torch.Tensor(count, 5), torch.Tensor(count)
         for i = 1, count do
            local sample = data[shuffle[t + i - 1] ]
            inputs[i], targets[i] = sample[1], sample[2]
         end
         if opt.gpu > 0 then inputs, targets = inputs:cuda(), targets:cuda() end
         local function feval(x)
            if x ~= parameters then parameters:copy(x) end
            gradients:zero()
            local outputs = model:forward(inputs)
            local f = criterion:forward(outputs, targets)
            model:backward(inputs, criterion:backward(outputs, targets))
            confusion:batchAdd(outputs, targets)
            return f, gradients
         end
         local _, fs = optim.sgd(feval, parameters, state)
         sum, batches = sum + fs[1], batches + 1
      end
      confusion:updateValids()
      logger:add{sum / batches, confusion.totalValid * 100}
      if not best or sum / batches < best.loss then
         best = {loss = sum / batches, model = torch.type(model) == 'nn.DataParallelTable'
            and model:get(1):clone():float() or model:clone():float()}
         torch.save(paths.concat(opt.save, 'best.t7'), {best.model:clearState(), state})
      end
      if epoch % 5 == 0 then state.learningRate = state.learningRate / 2 end
   end
   local net = torch.load(paths.concat(opt.save, 'best.t7'))[1]
   net:evaluate()
   local _, predicted = net:forward(data.x):max(2)
   print()
   print(opt.name)
   local right = predicted:float():view(-1):eq(data.y):sum()
   print(('%.4f %d %s'):format(best.loss, right, torch.type(net)))
   local lines = 0
   for _ in io.lines(paths.concat(opt.save, 'logs', 'train.log')) do lines = lines + 1 end
   print(lines)
   paths.rmall(opt.save, 'yes')
]]

describe('a whole program', function()
   it('ends the same with three devices, one, and none', function()
      local expected
      for _, devices in ipairs{'none', 'host:1', 'host:3'} do
         local out = run.lua(program, {DPT_DEVICES = devices})
         local name, loss, right, lines =
            out:match '\n(run[^\n]*)\n(%S+) (%d+) nn.Sequential\n(%d+)\n$'
         assert.truthy(name, devices .. ': ' .. out)
         assert.equal('run,LR=0.2,batchSize=6', name)
         assert.equal('11', lines)
         expected = expected or loss
         assert.is_true(math.abs(expected - loss) < 1e-3, devices .. ': ' .. loss)
         assert.is_true(tonumber(right) >= 24, right)
      end
   end)
end)
