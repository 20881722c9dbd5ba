--- Scripts with threads: data loaders that run during training, and replicas trained by the script,
-- with a thread and a device each.
-- luacheck: globals opt tid trainLoader
local dpt = require 'dpt'
local torch, nn, optim, cutorch = dpt.torch, dpt.nn, dpt.optim, dpt.cutorch
local places = require 'spec.support.places'

-- A loader as in the ResNet scripts: jobs are added while the pool accepts them.
local function loader(Threads, threads, batch)
   local dataset = {images = torch.ByteTensor(20, 3, 6, 6), labels = torch.LongTensor(20)}
   for i = 1, 20 do
      dataset.labels[i] = i % 4 + 1
      dataset.images[i]:fill(i % 4 * 50 + i)
   end
   function dataset.get(self, i) return self.images[i], self.labels[i] end
   local pool, sizes = Threads(threads,
      function() require 'torch' end,
      function(id)
         torch.manualSeed(id)
         torch.setnumthreads(1)
         _G.dataset = dataset
         _G.preprocess = function(x) return x:float():div(255) end
         return dataset.labels:size(1)
      end)
   local size = sizes[1][1]
   local function run(perm)
      local index, n, sample = 1, 0, nil
      local function enqueue()
         while index <= size and pool:acceptsjob() do
            local indices = perm:narrow(1, index, math.min(batch, size - index + 1))
            pool:addjob(function(list)
               local count = list:size(1)
               local input, target = torch.FloatTensor(count, 3, 6, 6), torch.IntTensor(count)
               for i, k in ipairs(list:totable()) do
                  local image, label = _G.dataset:get(k)
                  input[i]:copy(_G.preprocess(image))
                  target[i] = label
               end
               collectgarbage()
               return {input = input, target = target}
            end, function(s) sample = s end, indices)
            index = index + batch
         end
      end
      return function()
         enqueue()
         if not pool:hasjob() then return nil end
         pool:dojob()
         if pool:haserror() then pool:synchronize() end
         enqueue()
         n = n + 1
         return n, sample
      end
   end
   return run, pool
end

local function train(place)
   local Threads = require 'threads'
   Threads.serialization('threads.sharedserialize')
   local run, pool = loader(Threads, 1, 8) -- with one thread, its batches come in order
   local net = nn.Sequential():add(nn.SpatialConvolution(3, 4, 3, 3)):add(nn.ReLU(true))
      :add(nn.View(64):setNumInputDims(3)):add(nn.Linear(64, 4))
   net = place.net(net)
   local criterion = place.move(nn.CrossEntropyCriterion())
   local parameters, gradients = net:getParameters()
   local state = {learningRate = 0.2, momentum = 0.9, dampening = 0, nesterov = true}
   local input, target = place.move(torch.Tensor()), place.move(torch.Tensor())
   local losses = {}
   for epoch = 1, 6 do
      local sum, rows = 0, 0
      for _, sample in run(torch.randperm(20)) do
         input:resize(sample.input:size()):copy(sample.input)
         target:resize(sample.target:size()):copy(sample.target)
         local count = target:size(1)
         local loss = criterion:forward(net:forward(input), target)
         net:zeroGradParameters()
         net:backward(input, criterion:backward(net.output, target))
         optim.sgd(function() return loss, gradients end, parameters, state)
         sum, rows = sum + loss * count, rows + count
      end
      assert.equal(20, rows)
      losses[epoch] = sum / rows
   end
   pool:terminate()
   return losses, {parameters}
end

describe('a script with threads', function()
   after_each(function() require('threads').Threads.serialization('threads.serialize') end)

   it('loads its data during the training, the same on every device', function()
      places.agree(train, 1e-3)
   end)

   it('keeps globals in its workers, and returns states from each of them', function()
      local Threads = require 'threads'
      Threads.serialization('threads.sharedserialize')
      local options = {seed = 5, batch = 3}
      local pool = Threads(2, function() require 'torch' end, function(id)
         opt = options
         tid = id
         torch.manualSeed(opt.seed + id)
         trainLoader = {sample = function(_, n) return torch.FloatTensor(n):fill(tid) end}
      end)
      local batches, states = 0, {}
      for _ = 1, 6 do
         pool:addjob(function() return trainLoader:sample(opt.batch) end,
            function(x)
               assert.equal(3, x:size(1))
               batches = batches + 1
            end)
      end
      pool:synchronize()
      assert.equal(6, batches)
      pool:specific(true)
      for i = 1, 2 do
         pool:addjob(i, function() return torch.getRNGState(), tid end,
            function(state, id) states[id] = state end)
      end
      pool:synchronize()
      pool:terminate()
      for id = 1, 2 do
         torch.manualSeed(options.seed + id)
         assert.equal(0, (torch.getRNGState():double() - states[id]:double()):abs():sum())
      end
      assert.is_nil(rawget(_G, 'trainLoader'))
   end)

   it('trains replicas by hand, a thread and a device each #devices3', function()
      local threads = require 'threads'
      threads.Threads.serialization('threads.sharedserialize')
      local n = 3
      local pool = threads.Threads(n, function() require 'cunn' end, function(id)
         cutorch.setDevice(id)
      end)
      pool:specific(true)
      local function launch(job, done)
         for i = 1, n do pool:addjob(i, function() return job(i) end, done) end
         pool:synchronize()
      end
      local model = nn.Sequential():add(nn.Linear(4, 3)):add(nn.LogSoftMax()):float()
      local x = torch.FloatTensor(n, 5, 4):uniform()
      local y = torch.FloatTensor(n, 5):random(1, 3)
      local parameters, gradients, sum = {}, {}, 0
      launch(function(i)
         _G.model = model:clone():cuda()
         _G.criterion = nn.ClassNLLCriterion():cuda()
         _G.p, _G.g = _G.model:getParameters()
         return i, _G.p, _G.g
      end, function(i, p, g) parameters[i], gradients[i] = p, g end)
      for i = 1, n do assert.equal(i, parameters[i]:getDevice()) end
      launch(function(i)
         local input, target = x[i]:cuda(), y[i]:cuda()
         _G.model:zeroGradParameters()
         local loss = _G.criterion:forward(_G.model:forward(input), target)
         _G.model:backward(input, _G.criterion:backward(_G.model.output, target):div(n))
         return i, loss
      end, function(_, loss) sum = sum + loss / n end)
      for i = 2, n do gradients[1]:add(gradients[1]:clone():copy(gradients[i])) end

      local flat, flatGradients = model:getParameters()
      local criterion = nn.ClassNLLCriterion():float()
      flatGradients:zero()
      local whole = x:view(n * 5, 4)
      local loss = criterion:forward(model:forward(whole), y:view(-1))
      model:backward(whole, criterion:backward(model.output, y:view(-1)))
      assert.is_true(math.abs(loss - sum) < 1e-5)
      assert.is_true((flatGradients - gradients[1]:float()):abs():max() < 1e-5)
      gradients[1]:mul(0.1)
      parameters[1]:add(-1, gradients[1])
      for i = 2, n do parameters[i]:copy(parameters[1]) end
      flat:add(-0.1, flatGradients)
      launch(function() return _G.p:float() end, function(p)
         assert.is_true((p - flat):abs():max() < 1e-5) -- the workers' own tensors
      end)
      pool:terminate()
   end)
end)
