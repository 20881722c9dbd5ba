--- Records a file for spec/file/init_releases_spec.lua: modules, criterions, states of optimizers,
-- tensors and other objects, with the results that this version of dpt computes from them.
-- Usage, once per release: luajit spec/support/record_files.lua spec/file/releases/VERSION.t7
--
-- Invariant: it depends only on public names and on the catalogues of spec/support, so that it runs
-- in the tree of any release.
local dpt = require 'dpt'
dpt.setDevices 'host:2'
local torch, nn, cudnn, optim, cutorch = dpt.torch, dpt.nn, dpt.cudnn, dpt.optim, dpt.cutorch
local tds = require 'tds'
torch.manualSeed(1)

local file = {version = torch.version(), modules = {}, criterions = {}, tensors = {}, optim = {}}

local function copy(x) return torch.deserialize(torch.serialize(x)) end

-- Converts the tensors of doubles in x to floats, which halves the file.
local function float(x)
   if type(x) == 'table' then
      local t = {}
      for k, v in pairs(x) do t[k] = float(v) end
      return t
   end
   return torch.type(x) == 'torch.DoubleTensor' and x:float() or x
end

-- Records a module in evaluation: output, gradInput and gradients for an input. Recurrent modules
-- have no backward in evaluation.
local function record(name, module, input)
   module:forward(input)
   module:evaluate()
   if module.forget then module:forget() end
   module:zeroGradParameters()
   local entry = {module = module, input = input, output = copy(module:forward(input))}
   local gradOutput = nn.utils.recursiveFill(copy(module.output), 0.5)
   local differentiable, gradInput = pcall(module.backward, module, input, gradOutput)
   if differentiable then
      local _, gradients = module:parameters()
      entry.gradInput, entry.gradients = copy(gradInput), copy(gradients or {})
      module:zeroGradParameters()
   end
   module:clearState()
   if module.forget then module:forget() end
   file.modules[name] = entry
end

for _, case in ipairs(require 'spec.support.catalogue') do
   if case.name ~= 'NaN' and case.name ~= 'Profile' then -- NaN writes a file, Profile prints
      record(case.name, case.make():float(), float(case.input(case.whole and 3 or 2)))
   end
end
for _, case in ipairs(require 'spec.support.criterions') do
   local input, target = case.input(2), case.target and case.target(2)
   local criterion = case.make()
   local loss = criterion:forward(input, target)
   file.criterions[case.name] = {criterion = criterion, input = input, target = target,
      loss = loss, gradInput = copy(criterion:backward(input, target))}
end

local function small()
   return nn.Sequential():add(nn.Linear(4, 3)):add(nn.BatchNormalization(3)):add(nn.Tanh()):float()
end
local rows, steps = torch.randn(6, 4):float(), torch.randn(5, 3, 4):cuda()
local image = torch.randn(2, 3, 6, 6):cuda()
record('DataParallelTable, flat parameters',
   nn.DataParallelTable(1, true):add(small():cuda(), {1, 2}), rows:cuda())
record('DataParallelTable', nn.DataParallelTable(1):add(small():cuda(), 1):add(small():cuda(), 2),
   rows:cuda())
record('DataParallel', nn.DataParallel(small():cuda()), rows:cuda())
record('DistributedDataParallel', nn.DistributedDataParallel(small()), rows)
record('SyncBatchNormalization',
   nn.DistributedDataParallel(nn.SyncBatchNormalization.convert(small())), rows)
record('WeightNorm of a convolution', nn.WeightNorm(nn.SpatialConvolution(2, 3, 3, 3), 2):float(),
   torch.randn(1, 2, 5, 5):float())
for _, name in ipairs{'LSTM', 'GRU', 'RNNReLU', 'RNNTanh', 'BLSTM', 'BGRU'} do
   record('cudnn.' .. name, cudnn[name](4, 3, 2), steps)
end
record('cudnn.SpatialConvolution', cudnn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1):cuda(), image)
record('cudnn.SpatialFullConvolution', cudnn.SpatialFullConvolution(3, 4, 3, 3):cuda(), image)
record('cudnn.SpatialMaxPooling', cudnn.SpatialMaxPooling(2, 2):cuda(), image)
record('cudnn.SpatialBatchNormalization', cudnn.SpatialBatchNormalization(3):cuda(), image)
record('cudnn.ReLU', cudnn.ReLU():cuda(), image)
record('cudnn.TemporalConvolution', cudnn.TemporalConvolution(4, 3, 2):cuda(),
   torch.randn(2, 5, 4):cuda())
record('cudnn.VolumetricConvolution', cudnn.VolumetricConvolution(2, 3, 2, 2, 2):cuda(),
   torch.randn(1, 2, 4, 4, 4):cuda())

for _, name in ipairs(require('spec.support.elements').everywhere) do
   local typename = 'torch.' .. name .. 'Tensor'
   file.tensors[typename] = torch.range(1, 6):resize(2, 3):type(typename):t()
end
local base = torch.range(1, 10)
file.shared = {base, base:narrow(1, 3, 4), base:storage()}

-- The square of the distance from 0, and its gradient.
local function square(x) return x:norm() ^ 2, x * 2 end
for name, config in pairs{sgd = {learningRate = 0.1, momentum = 0.9, weightDecay = 0.01},
   adam = {learningRate = 0.1}, adamw = {amsgrad = true}, adagrad = {learningRate = 0.1},
   adadelta = {},
   adamax = {learningRate = 0.1}, rmsprop = {learningRate = 0.1}, rprop = {},
   nag = {learningRate = 0.1, momentum = 0.9}, asgd = {eta0 = 0.1}, lbfgs = {maxIter = 2}} do
   local x = torch.Tensor{1, -2, 3}
   for _ = 1, 3 do optim[name](square, x, config) end
   local entry = copy{x = x, state = config}
   optim[name](square, x, config)
   entry.after = x
   file.optim[name] = entry
end
file.confusion = optim.ConfusionMatrix{'a', 'b', 'c'}
for i = 1, 9 do file.confusion:add(i % 3 + 1, (i * i) % 3 + 1) end
file.confusion:updateValids()

file.hash, file.vec = tds.Hash{a = 1, [3] = torch.ones(2)}, tds.Vec{'one', torch.ones(2)}
file.values = {1, 'two', true, {deep = 0.1}, [-0.5] = 'x'}
file.state, file.deviceStates = torch.getRNGState(), cutorch.getRNGStateAll()
file.random, file.deviceRandom = torch.rand(4), torch.CudaTensor(4):uniform()

torch.save(arg[1], file)
