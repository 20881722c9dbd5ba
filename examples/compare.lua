-- compare: trains one network in several ways that must agree: on one device; on all devices with a
-- loop written by hand; with nn.DataParallelTable; with nn.DataParallelTable and threads; and with
-- the loss computed on every device as well.
--
--   scripts/dpt examples/compare.lua [--devices N] [--steps S] [--batch B] [--hidden H] [--seed S]
--
-- Prints for each way the milliseconds per step, the last loss, and the largest difference of a
-- final parameter from the run on one device. The last line is `all ways agree`.
-- short: --steps 5 --batch 70
require 'dpt'
local nn, optim, cutorch, sys = nn, optim, cutorch, sys
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text('Trains one network in several ways and compares times and parameters.')
cmd:option('--devices', 0, 'on how many devices (0: all of them)')
cmd:option('--steps', 40, 'steps of training')
cmd:option('--batch', 250, 'rows a step')
cmd:option('--hidden', 400, 'width of the layers')
cmd:option('--seed', 1, 'of parameters and data')
local opt = cmd:parse(arg)
local n = opt.devices > 0 and opt.devices or cutorch.getDeviceCount()
local devices = {}
for i = 1, n do devices[i] = i end

torch.manualSeed(opt.seed)
local network = nn.Sequential():add(nn.Linear(100, opt.hidden)):add(nn.Tanh())
   :add(nn.Linear(opt.hidden, opt.hidden)):add(nn.Tanh())
   :add(nn.Linear(opt.hidden, 10)):add(nn.LogSoftMax())
-- Random rows; the class of a row is the index of the largest of ten sums of its values.
local images = torch.randn(opt.batch, 100)
local classes = select(2, torch.mm(images, torch.randn(100, 10)):max(2)):view(-1):float():cuda()
images = images:cuda()

-- Each way is a function that returns step(), which trains once and returns the loss, and the
-- parameters.
local ways = {}
local function add(name, make) ways[#ways + 1] = {name = name, make = make} end

-- The usual training loop for any network and criterion.
local function usual(net, criterion)
   local parameters, gradients = net:getParameters()
   local state = {learningRate = 0.05, momentum = 0.9}
   local function feval()
      net:zeroGradParameters()
      local output = net:forward(images)
      local loss = criterion:forward(output, classes)
      net:backward(images, criterion:backward(output, classes))
      return loss, gradients
   end
   return function()
      local _, losses = optim.sgd(feval, parameters, state)
      return losses[1]
   end, parameters
end

add('one device', function()
   return usual(network:clone():cuda(), nn.ClassNLLCriterion():cuda())
end)

-- The steps of nn.DataParallelTable, written out: run forward and backward on every device, wait,
-- sum the gradients on the first device, update the parameters there, copy them to the others.
add('by hand', function()
   local nets, criterions, p, g, inputs, targets = {}, {}, {}, {}, {}, {}
   for i = 1, n do
      cutorch.withDevice(i, function()
         nets[i] = network:clone():cuda()
         criterions[i] = nn.ClassNLLCriterion():cuda()
         p[i], g[i] = nets[i]:getParameters()
         inputs[i], targets[i] = torch.CudaTensor(), torch.CudaTensor()
      end)
   end
   local state, there = {learningRate = 0.05, momentum = 0.9}, torch.CudaTensor()
   return function()
      local loss, first = 0, 1
      for i = 1, n do
         local rows = math.floor(opt.batch / n) + (i <= opt.batch % n and 1 or 0)
         if rows > 0 then
            cutorch.setDevice(i)
            local x = inputs[i]:resize(rows, 100):copy(images:narrow(1, first, rows))
            local y = targets[i]:resize(rows):copy(classes:narrow(1, first, rows))
            g[i]:zero()
            local output = nets[i]:forward(x)
            loss = loss + criterions[i]:forward(output, y) * rows / opt.batch
            nets[i]:backward(x, criterions[i]:backward(output, y):mul(rows / opt.batch))
            first = first + rows
         end
      end
      cutorch.synchronizeAll()
      cutorch.setDevice(1)
      for i = 2, n do g[1]:add(there:resizeAs(g[i]):copy(g[i])) end
      optim.sgd(function() return loss, g[1] end, p[1], state)
      for i = 2, n do p[i]:copy(p[1]) end
      return loss
   end, p[1]
end)

add('nn.DataParallelTable', function()
   local net = nn.DataParallelTable(1, true):add(network:clone():cuda(), devices)
   return usual(net, nn.ClassNLLCriterion():cuda())
end)

add('the same with threads', function()
   local net = nn.DataParallelTable(1, true):add(network:clone():cuda(), devices)
   return usual(net:threads(), nn.ClassNLLCriterion():cuda())
end)

add('nn.DataParallelCriterion', function()
   local net = nn.DataParallelTable(1, true, false, {gather = false})
   net:add(network:clone():cuda(), devices).gradInput = nil
   return usual(net, nn.DataParallelCriterion(nn.ClassNLLCriterion():cuda()))
end)

print(('%d devices, %d rows a step, %d steps'):format(n, opt.batch, opt.steps))
print('\nway                        ms a step   last loss   largest difference of a parameter')
local truth, agree = nil, true
for _, way in ipairs(ways) do
   local step, parameters = way.make()
   local loss = step() -- allocates buffers
   cutorch.synchronizeAll()
   local begun = sys.clock()
   for _ = 2, opt.steps do loss = step() end
   cutorch.synchronizeAll()
   local seconds = sys.clock() - begun
   truth = truth or parameters:float()
   local difference = (parameters:float() - truth):abs():max()
   agree = agree and difference < 1e-4
   print(('%-25s %10.2f %11.5f   %g'):format(way.name, seconds * 1000 / math.max(opt.steps - 1, 1),
      loss, difference))
   collectgarbage()
end
assert(agree, 'the ways differ by more than rounding')
print('\nall ways agree')
