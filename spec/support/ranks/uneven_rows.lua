-- Trains on two ranks with several devices, with other numbers of rows in each step: no rows on one
-- rank, fewer rows than devices, and so on. Parameters, evaluations, clones and files are those of
-- the bare network on one device with all rows, up to rounding. arg: basic, threads, or plain (no
-- nn.DataParallelTable).
require 'dpt'
local distributed = require 'dpt.distributed'
local rank, kind = distributed.rank(), arg[1]

local ROWS = 5
local SPLITS = {{0, 5}, {1, 4}, {5, 0}, {4, 1}, {0, 5}, {5, 0}}
local FLOATS = 'torch.CudaTensor'

-- Defines a script's module, once in each Lua state.
local function define()
   require 'dpt'
   if nn.HeedingLinear then return end
   local HeedingLinear, parent = torch.class('nn.HeedingLinear', 'nn.Linear')
   function HeedingLinear:accGradParameters(input, gradOutput, scale)
      parent.accGradParameters(self, input, gradOutput, scale)
   end
end
define()

local function wave(step, ...)
   local t = torch.Tensor(...)
   return t:copy(torch.range(1, t:nElement()):mul(0.7 * step):cos())
end

-- Returns n rows of a tensor from `first` on.
local function narrow(t, dimension, first, n)
   if n > 0 then return t:narrow(dimension, first, n):clone() end
   local sizes = t:size():totable()
   sizes[dimension] = 0
   return t.new(unpack(sizes))
end

local function devices(network, splitSpec)
   if kind == 'plain' then return network end
   local list = torch.range(1, cutorch.getDeviceCount()):totable()
   local many = nn.DataParallelTable(1, true):add(network, list)
   if kind == 'threads' then many:threads(define) end
   many.splitSpec = splitSpec
   return many
end

local function near(a, b, text)
   local off = (a:double() - b:double()):abs():max()
   assert(off < 2e-5 * math.max(1, b:double():abs():max()), ('%s: off by %g'):format(text, off))
end

-- Returns the gradient of the mean over rows of 1 - cos; zero for states.
local function gradient(output, n)
   if torch.type(output) == 'table' then
      local list = {gradient(output[1], n)}
      for i = 2, #output do list[i] = output[i]:clone():zero() end
      return list
   end
   return n > 0 and output:clone():sin():div(n) or output:clone()
end

local function update(net, input, n, parameters, gradients)
   net:training()
   net:zeroGradParameters()
   local output = net:forward(input)
   net:backward(input, gradient(output, n))
   parameters:add(-0.1, gradients)
end

local function first(output) return torch.type(output) == 'table' and output[1] or output end

-- make(wrap) returns the network, with wrap called for the part on several devices; input(step,
-- first, n) returns n rows of the step's input from `first` on.
local function check(name, make, input, convert)
   local one = make(function(network) return network end)
   local many = make(devices)
   if convert then many = convert(many) end
   local net = nn.DistributedDataParallel(many)
   local x, dx = one:getParameters()
   local y, dy = net:getParameters()
   for i, t in ipairs{x, y} do
      assert(i == 1 or t:nElement() == x:nElement())
      t:copy(torch.range(1, t:nElement()):cos():mul(0.5))
   end
   for step, split in ipairs(SPLITS) do
      local text = ('%s, step %d, rank %d'):format(name, step, rank)
      local state = cutorch.getRNGState(1)
      update(one, input(step, 1, ROWS), ROWS, x, dx)
      cutorch.setRNGState(state, 1)
      local n = split[rank + 1]
      update(net, input(step, rank == 0 and 1 or 1 + split[1], n), n, y, dy)
      near(y, x, text)
      local whole = input(step + 9, 1, ROWS)
      one:evaluate()
      local wanted = first(one:forward(whole)):clone()
      if step % 2 == 0 then
         net:evaluate()
         near(first(net:forward(whole)), wanted, text .. ', evaluation')
         assert(first(net:forward(input(step, 1, 0))):dim() == wanted:dim(), text)
      elseif step % 3 == 0 then
         for how, copy in pairs{clone = net:clone(), file = torch.deserialize(torch.serialize(net))}
         do
            copy:evaluate()
            near(first(copy:forward(whole)), wanted, text .. ', ' .. how)
         end
      end
   end
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end

local function flat(step, from, n) return narrow(wave(step, ROWS, 3), 1, from, n):type(FLOATS) end

local function sequences(step, from, n)
   return narrow(wave(step, 4, ROWS, 3), 2, from, n):type(FLOATS)
end

local function linear() return nn.Linear(3, 4) end
local function body(layer, norm)
   local net = nn.Sequential():add(layer())
   if norm then net:add(nn.BatchNormalization(4)) end
   return net:add(nn.Tanh()):add(nn.Dropout(0.3)):add(nn.Linear(4, 2)):type(FLOATS)
end

local checks = {}

function checks.linear() check('linear', function(wrap) return wrap(body(linear)) end, flat) end

function checks.normalized()
   check('normalized', function(wrap) return wrap(body(linear, true)) end, flat,
      nn.SyncBatchNormalization.convert)
end

-- Tests an nn.DataParallelTable as a part of the network.
function checks.inside()
   check('inside', function(wrap)
      return nn.Sequential():add(wrap(body(linear))):add(nn.Dropout(0.2):type(FLOATS))
         :add(nn.Linear(2, 2):type(FLOATS))
   end, flat)
end

-- Host tensors are converted to the network's type.
function checks.doubles()
   local function make(wrap)
      local net = wrap(body(linear):type 'torch.CudaDoubleTensor')
      if torch.isTypeOf(net, 'nn.DataParallelTable') then return net end
      return nn.Sequential():add(nn.Copy('torch.FloatTensor', 'torch.CudaDoubleTensor')):add(net)
   end
   check('doubles', make, function(...) return flat(...):float() end)
end

local LENGTHS = {4, 2, 3, 1, 4}

function checks.lengths()
   check('lengths', function(wrap) return wrap(cudnn.LSTM(3, 4, 2, false, 0.3):type(FLOATS)) end,
      function(step, from, n)
         local lengths = {}
         for i = 1, n do lengths[i] = LENGTHS[from + i - 1] end
         return {sequences(step, from, n), lengths}
      end)
end

function checks.states()
   check('states', function(wrap) return wrap(cudnn.GRU(3, 4, 1):type(FLOATS)) end,
      function(step, from, n)
         return {sequences(step, from, n),
            narrow(wave(step + 5, 1, ROWS, 4), 2, from, n):type(FLOATS)}
      end)
end

-- Tests an input that is copied to every replica, not split by rows.
function checks.replicated()
   check('replicated', function(wrap)
      local both = nn.ParallelTable():add(nn.Linear(3, 2)):add(nn.Linear(4, 2))
      return wrap(nn.Sequential():add(both):add(nn.MM(false, true)):type(FLOATS), {1, 'replicate'})
   end, function(step, from, n) return {flat(step, from, n), wave(step, 7, 4):type(FLOATS)} end)
end

-- A script's module is examined on replica 1 only.
function checks.foreign()
   check('foreign', function(wrap)
      return wrap(body(function() return nn.HeedingLinear(3, 4) end))
   end, flat)
end

-- A rank without further batches gets sequences without rows, and the replicated inputs.
function checks.join()
   local net = nn.DistributedDataParallel(devices(cudnn.LSTM(3, 4, 1):type(FLOATS)))
   local i, batches = 0, {}
   for k = 1, 2 + rank do batches[k] = {sequences(k, 1, ROWS), {4, 2, 3, 1, 4}} end
   local seen = {}
   for input in net:join(function() i = i + 1 return batches[i] end) do
      net:forward(input)
      net:backward(input, gradient(net.output, input[1]:size(2)))
      seen[#seen + 1] = table.concat(input[1]:size():totable(), 'x') .. ':' .. #input[2]
   end
   local wanted = rank == 0 and '4x5x3:5 4x5x3:5 4x0x3:0' or '4x5x3:5 4x5x3:5 4x5x3:5'
   assert(table.concat(seen, ' ') == wanted, table.concat(seen, ' '))
   distributed.barrier()
   if rank == 0 then print 'join holds' end
end

local plain = {'lengths', 'states'}
local all = {'linear', 'normalized', 'inside', 'doubles', 'lengths', 'states', 'replicated',
   'foreign', 'join'}
for _, name in ipairs(kind == 'plain' and plain or all) do
   torch.manualSeed(7)
   cutorch.manualSeedAll(7)
   checks[name]()
end
