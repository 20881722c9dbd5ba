-- Rows A9 to A14: problems reported by users of nn.DataParallelTable (docs/user-issues.md): copies
-- and files of a parallel network.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'
local torture = require 'spec.support.torture'

local function network()
   return nn.Sequential():add(nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1))
      :add(nn.SpatialBatchNormalization(3)):add(nn.ReLU(true)):add(nn.View(108):setNumInputDims(3))
      :add(nn.Linear(108, 4)):cuda()
end

describe('users of DataParallelTable', function()
   local most = same.most(8)
   local file

   before_each(function()
      torch.manualSeed(4)
      cutorch.setDevice(1)
      file = os.tmpname()
   end)
   after_each(function() os.remove(file) end)

   local function wrap(net, n) return nn.DataParallelTable(1, true):add(net, same.range(n)) end

   local function input(rows) return torch.randn(rows, 2, 6, 6):cuda() end

   local function step(many, x)
      many:training()
      many:zeroGradParameters()
      many:forward(x)
      many:backward(x, many.output)
      many:updateParameters(0.01)
   end

   -- Returns a network whose replicas have seen different rows.
   local function trained(n)
      local many = wrap(network(), n)
      for scale = 1, 3 do step(many, input(2 * n + 1):mul(scale)) end
      return many
   end

   it('A9: a copy and a file give the same bits in evaluation, with replica 1\'s statistics',
      function()
         local many, x = trained(most), input(2 * most + 1)
         local means = many.impl:exec(function(net) return net:get(2).running_mean:float() end)
         for i = 2, most do assert.is_true((means[i] - means[1]):abs():max() > 0) end
         local mean = many:get(1):get(2).running_mean:clone()
         local var = many:get(1):get(2).running_var:clone()
         same.bits(means[1], mean)
         many:evaluate()
         local output = many:forward(x):clone()
         torch.save(file, many)
         local memory = torch.MemoryFile()
         memory:writeObject(many)
         memory:seek(1)
         for _, copy in ipairs{many:clone(), torch.load(file), memory:readObject(),
            nn.Sequential():add(many):clone():get(1)} do
            same.bits(output, copy:forward(x))
            for i = 1, most do
               same.bits(mean, copy:get(i):get(2).running_mean)
               same.bits(var, copy:get(i):get(2).running_var)
            end
         end
         same.bits(mean, many:get(1):clone():get(2).running_mean)
      end)

   it('A10: apply reaches each replica', function()
      local many, x = wrap(network(), most), input(2 * most)
      many:forward(x)
      local seen = {}
      many:apply(function(module) seen[#seen + 1] = torch.type(module) end)
      assert.same({'nn.DataParallelTable', 'nn.Sequential', 'nn.SpatialConvolution',
         'nn.SpatialBatchNormalization', 'nn.ReLU', 'nn.View', 'nn.Linear'}, seen)
      many:apply(function(module)
         if module.eps then module.eps, module.mark = 0.5, 'here' end
      end)
      many:forward(x)
      for i = 1, most do
         assert.equal(0.5, many:get(i):get(2).eps)
         assert.equal('here', many:get(i):get(2).mark)
      end
      many:get(1):get(2).note = 'replica 1 alone'
      torch.save(file, many) -- apply's functions are not saved with the network
      assert.equal('here', torch.load(file):get(1):get(2).mark)
   end)

   it('A11: another type keeps views, devices and the flat state', function()
      for _, types in ipairs{{'torch.CudaDoubleTensor', 1e-10}, {'torch.CudaTensor', 1e-4}} do
         local many = wrap(network(), most)
         many:getParameters()
         many:forward(input(most))
         many:evaluate()
         assert.equal(many, many:type(types[1]))
         local truth, x = many:get(1):clone(), input(most + 1):type(types[1])
         same.close(truth:forward(x), many:forward(x), types[2])
         for i = 1, most do
            local flat, gradient = unpack(many.flattenedParams[i])
            local values, gradients = many:get(i):parameters()
            assert.same({types[1], i}, {flat:type(), flat:getDevice()})
            assert.same({types[1], i}, {gradient:type(), gradient:getDevice()})
            for k, t in ipairs(values) do
               assert.is_true(t:storage() == flat:storage())
               assert.is_true(gradients[k]:storage() == gradient:storage())
            end
            assert.equal(types[1], many:get(i):get(2).running_mean:type())
         end
         many:getParameters():fill(0.5)
         assert.equal(0, many:get(1):get(5).weight:ne(0.5):sum())
      end
   end)

   describe('A12: a file', function()
      it('has the size of one replica', function()
         local function size(object)
            torch.save(file, object)
            local handle = io.open(file, 'rb')
            local bytes = handle:seek 'end'
            handle:close()
            return bytes
         end
         local net = nn.Sequential():add(nn.Linear(100, 100)):cuda()
         local one, sizes = size(net), {}
         for n = 1, most do
            local many = wrap(net:clone(), n)
            many:forward(torch.randn(4 * n, 100):cuda())
            many:clearState()
            sizes[n] = size(many)
            assert.is_true(sizes[n] < one + 2000, sizes[n] .. ' bytes for ' .. n .. ' devices')
         end
      end)

      it('of n devices is loaded on m and trains on alike', function()
         local code = [[
            require 'dpt'
            torch.setdefaulttensortype 'torch.FloatTensor'
            local m, most, path = cutorch.getDeviceCount(), %d, '%s'
            for n = 1, most do
               for _, wanted in ipairs{false, m} do
                  nn.DataParallelTable.deserializeNGPUs = wanted or nil
                  local saved = torch.load(path .. n)
                  local many, x = saved.many, saved.x:cuda()
                  assert(#many.gpuAssignments == (wanted or math.min(n, m)))
                  local flat = many:getParameters()
                  many:zeroGradParameters()
                  many:forward(x)
                  many:backward(x, many.output)
                  many:updateParameters(0.01)
                  for i, t in ipairs{many.output, flat} do
                     local difference = (saved[i] - t:float()):abs():max()
                     if not (difference < 1e-5) then print(n, m, i, difference) end
                  end
                  for i = 1, #many.gpuAssignments do
                     assert(many:get(i):parameters()[1]:getDevice() == i)
                  end
               end
            end
            print 'done'
         ]]
         finally(function() for n = 1, most do os.remove(file .. n) end end)
         for n = 1, most do
            local many = wrap(nn.Sequential():add(nn.Linear(6, 5)):add(nn.Tanh())
               :add(nn.Linear(5, 4)):cuda(), n)
            local x = torch.randn(2 * most + 1, 6):cuda()
            step(many, x)
            local one = many:get(1):clone()
            step(one, x)
            torch.save(file .. n, {many = many, x = x:float(), one.output:float(),
               (one:getParameters():float())})
         end
         for m = 1, most do
            assert.equal('done\n', run.lua(code:format(most, file), {DPT_DEVICES = 'host:' .. m}))
         end
         assert.is_nil(nn.DataParallelTable.deserializeNGPUs)
      end)
   end)

   it('A13: 200 checkpoints leave the resident memory flat #noasan', function()
      local out = run.lua(([[
         require 'dpt'
         local net = nn.Sequential():add(nn.Linear(512, 512)):add(nn.BatchNormalization(512)):cuda()
         local many = nn.DataParallelTable(1, true):add(net, {1, 2, 3})
         local x = torch.randn(12, 512):cuda()
         local ffi = require 'ffi'
         ffi.cdef 'int malloc_trim(size_t);'
         local function resident()
            collectgarbage()
            collectgarbage()
            ffi.C.malloc_trim(0) -- what malloc keeps for later is no leak
            for line in io.lines '/proc/self/status' do
               local kB = line:match 'VmRSS:%%s*(%%d+)'
               if kB then return tonumber(kB) end
            end
         end
         local before
         for round = 1, %d do
            many:forward(x)
            many:backward(x, many.output)
            torch.save('%s', {model = many, state = {dfdx = select(2, many:getParameters())}})
            torch.save('%s', many:get(1):clone():clearState():float()) -- the deep copy
            local now = resident() -- what is garbage now is used again
            if round == 10 then before = now end
         end
         print((resident() - before) / 1024) -- a checkpoint has 1 MiB
      ]]):format(torture(200), file, file), {DPT_DEVICES = 'host:3'})
      assert.is_true(tonumber(out) and tonumber(out) < 2, out)
   end)

   it('A14: a checkpoint changes no device memory, nor what gradInputs share', function()
      local net = network()
      local many, x = wrap(net, most), input(2 * most)
      step(many, x)
      -- one buffer for the gradInputs of all layers, as in fb.resnet.torch
      many.impl:exec(function(replica)
         local buffer = torch.CudaTensor(1):storage()
         replica:apply(function(module)
            module.gradInput = torch.CudaTensor():set(buffer, 1, 0)
         end)
      end)
      for _ = 1, 2 do step(many, x) end
      local function memory()
         collectgarbage()
         collectgarbage()
         local list = {}
         for i = 1, most do
            local stats = cutorch.memoryStats(i)
            list[2 * i - 1], list[2 * i] = stats.live, stats.peak
         end
         return list
      end
      memory()
      for i = 1, most do cutorch.resetPeakMemory(i) end
      local before = memory()
      torch.save(file, many)
      torch.save(file, {net = many, at = 3})
      assert.same(before, memory())
      torch.save(file, many:get(1):clone():clearState():float())
      local after = memory()
      for i = 1, most do assert.equal(before[2 * i - 1], after[2 * i - 1]) end -- live bytes
      for i = 1, most do
         local layers = many:get(i)
         assert.is_true(layers:get(5).gradInput:storage() == layers:get(1).gradInput:storage())
      end
      step(many, x)
      for i = 1, most do cutorch.resetPeakMemory(i) end
      before = memory()
      step(many, x)
      step(many, x)
      after = memory()
      for i = 1, most do assert.equal(before[2 * i - 1], after[2 * i - 1]) end
   end)
end)
