-- loader: workers prepare batches while the network trains, as data loaders of Torch7 programs do.
--
--   scripts/dpt examples/loader.lua [--threads N] [--batches B] [--seed S]
--
-- The images are stripes in noise; the class is the direction of the stripes. The batches are the
-- same for any number of threads; the order in which they are learned varies. Prints the accuracy
-- over the last tenth of the batches, each measured before training on it, as the last line:
-- `accuracy: 0.NNNN`.
-- short: --batches 60
require 'dpt'
local nn, optim = nn, optim
local threads = require 'threads'
torch.setdefaulttensortype('torch.FloatTensor')
threads.serialization('threads.sharedserialize') -- safe: each job makes a new batch

local cmd = torch.CmdLine()
cmd:text('Trains a network on pictures that threads make.')
cmd:option('--threads', 2, 'how many make pictures')
cmd:option('--batches', 300, 'how many batches are made and learned')
cmd:option('--seed', 1, 'of the pictures and the first parameters')
local opt = cmd:parse(arg)

-- A class that workers must know before they read a job that uses it: an init function defines it.
local function defineStripes()
   torch.setdefaulttensortype('torch.FloatTensor')
   local Stripes = torch.class('Stripes')
   function Stripes:__init(size, classes) self.size, self.classes = size, classes end
   -- Returns one image (1, size, size) of a class.
   function Stripes:draw(class)
      local angle, phase = math.pi * class / self.classes, torch.uniform(0, 6)
      local x = torch.range(1, self.size):view(1, -1):expand(self.size, self.size)
      return (x * math.cos(angle) + x:t() * math.sin(angle) + phase):sin()
         :add(torch.randn(self.size, self.size)):view(1, self.size, self.size)
   end
   function Stripes:batch(count)
      local pictures, classes = torch.Tensor(count, 1, self.size, self.size), torch.Tensor(count)
      for i = 1, count do
         classes[i] = torch.random(self.classes)
         pictures[i]:copy(self:draw(classes[i]))
      end
      return pictures, classes
   end
end
defineStripes()

local stripes = Stripes(16, 4) -- luacheck: ignore
local pool = threads.Threads(opt.threads, defineStripes)

torch.manualSeed(opt.seed)
local net = nn.Sequential():add(nn.SpatialConvolution(1, 16, 5, 5)):add(nn.ReLU())
net:add(nn.SpatialMaxPooling(12, 12)):add(nn.View(16):setNumInputDims(3))
net:add(nn.Linear(16, stripes.classes)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
local parameters, gradients = net:getParameters()
local state = {learningRate = 0.01}
local learned, right, seen = 0, 0, 0

local function learn(pictures, classes)
   optim.adam(function()
      gradients:zero()
      local loss = criterion:forward(net:forward(pictures), classes)
      net:backward(pictures, criterion:backward(net.output, classes))
      return loss, gradients
   end, parameters, state)
   learned = learned + 1
   if learned > 0.9 * opt.batches then
      local _, guesses = net.output:max(2)
      right = right + guesses:view(-1):eq(classes:long()):sum()
      seen = seen + classes:nElement()
   end
end

local timer = torch.Timer()
for i = 1, opt.batches do
   pool:addjob(function(seed)
      torch.manualSeed(seed)
      return stripes:batch(32)
   end, learn, opt.seed * 1000 + i)
end
pool:synchronize()
pool:terminate()
print(('%d batches in %.1f s with %d threads'):format(learned, timer:time().real, opt.threads))
print(('accuracy: %.4f'):format(right / seen))
