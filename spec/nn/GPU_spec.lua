local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local jacobian = require 'spec.support.jacobian'
local same = require 'spec.support.parallel'

-- Returns the number of bytes copied between devices while f ran.
local function moves(f)
   local before = same.copied()
   f()
   return same.copied() - before
end

describe('nn.GPU', function()
   if cutorch.getDeviceCount() < 3 then return pending('needs 3 devices') end

   same.seeded(9)

   local function layers()
      return nn.Linear(5, 7), nn.Linear(7, 4), nn.Linear(4, 3)
   end

   -- Returns the layers on one device, and split over devices 1, 2 and 3.
   local function both(typename)
      local a, b, c = layers()
      local one = nn.Sequential():add(a):add(nn.Tanh()):add(b):add(c)
      local split = nn.Sequential():add(nn.GPU(nn.Sequential():add(a:clone()):add(nn.Tanh()), 1, 2))
         :add(nn.GPU(b:clone(), 2)):add(nn.GPU(c:clone(), 3, 1))
      return one:type(typename), split:type(typename)
   end

   local function devicesOf(module)
      local list = {}
      for i, t in ipairs((module:parameters())) do list[i] = t:getDevice() end
      return list
   end

   it('keeps its parameters on its device', function()
      local _, split = both('torch.CudaTensor')
      assert.same({1, 1, 2, 2, 3, 3}, devicesOf(split))
      assert.equal(1, cutorch.getDevice())
      assert.same({2, 2}, devicesOf(nn.GPU(nn.Linear(2, 2):cuda(), 2)))
      local moving = nn.GPU(nn.Linear(2, 2):cuda(), 2):setDevice(3)
      assert.same({3, 3}, devicesOf(moving))
      assert.equal(3, moving:forward(torch.ones(2, 2):cuda()):getDevice())
   end)

   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor'} do
      it('is the module itself on a ' .. typename, function()
         local one, split = both(typename)
         for step = 1, 3 do
            local x = torch.randn(2 + step, 5):type(typename)
            local g = torch.randn(2 + step, 3):type(typename)
            one:zeroGradParameters()
            split:zeroGradParameters()
            same.close(one:forward(x), split:forward(x), 1e-14)
            same.close(one:backward(x, g, 0.5), split:backward(x, g, 0.5), 1e-14)
            same.close(one:updateGradInput(x, g), split:updateGradInput(x, g), 1e-14)
            one:accGradParameters(x, g, 2)
            split:accGradParameters(x, g, 2)
            local _, expected = one:parameters()
            local _, got = split:parameters()
            same.close(expected, got, 1e-13)
            one:updateParameters(0.1)
            split:updateParameters(0.1)
            same.close(one:parameters(), split:parameters(), 1e-13)
            if typename:find 'Cuda' then
               assert.equal(1, split.output:getDevice())
               assert.equal(1, split.gradInput:getDevice())
               assert.equal(2, split:get(1).output:getDevice())
            end
            assert.equal(split, split:clearState())
         end
      end)
   end

   it('has the gradients that differences show, as every module', function()
      jacobian.module(function()
         return nn.GPU(nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()), 2, 1)
      end, function() return torch.randn(3, 4) end)
      jacobian.module(function() return nn.GPU(nn.CMulTable(), 2, 1) end,
         function() return {torch.randn(3, 4), torch.randn(3, 4)} end)
   end)

   it('copies only tensors of other devices, and never into its arguments', function()
      local one = nn.GPU(nn.Identity():cuda(), 1)
      local x = torch.randn(4, 4):cuda()
      assert.equal(0, moves(function() one:forward(x) end))
      assert.equal(x, one.output)
      local there = cutorch.withDevice(2, function() return torch.ones(4, 4):cuda() end)
      local kept = x:clone()
      assert.equal(64, moves(function() one:forward(there) end))
      same.bits(kept, x)
      same.bits(there, one.output)
      assert.equal(1, one.output:getDevice())
   end)

   it('leaves where they are tables with a field __noGPU__, as cunn did', function()
      local inner, plain = nn.Linear(2, 2):cuda(), nn.Linear(2, 2):cuda()
      inner.__noGPU__ = true
      nn.GPU(nn.Sequential():add(plain):add(inner):cuda(), 2)
      assert.same({2, 1}, {plain.weight:getDevice(), inner.weight:getDevice()})
   end)

   it('accepts tables, and returns gradients on the devices of the inputs', function()
      local module = nn.GPU(nn.CAddTable():cuda(), 2, 3)
      local x = {torch.ones(2, 2):cuda(),
         cutorch.withDevice(3, function() return torch.ones(2, 2):cuda() end)}
      assert.equal(3, module:forward(x):getDevice())
      assert.equal(8, module.output:sum())
      local gradients = module:backward(x, module.output:clone())
      assert.same({1, 3}, {gradients[1]:getDevice(), gradients[2]:getDevice()})
      assert.equal(8, gradients[1]:sum())
   end)

   it('is copied and saved with its devices', function()
      local one, split = both('torch.CudaTensor')
      local x = torch.randn(3, 5):cuda()
      local expected = one:forward(x)
      for _, copy in ipairs{split:clone(), torch.deserialize(torch.serialize(split)),
         split:float():clone():cuda()} do
         assert.same({1, 1, 2, 2, 3, 3}, devicesOf(copy))
         same.close(expected, copy:forward(x), 1e-6)
      end
      split:cuda()
      local shared = split:get(2):clone('weight', 'bias')
      shared:get(1).weight:fill(7)
      assert.equal(7, split:get(2):get(1).weight:max())
   end)

   it('uses the current device if a file names one that does not exist', function()
      local module = nn.GPU(nn.Linear(2, 2):cuda(), 2)
      module.device, module.outdevice = 99, 99 -- as written by a machine with more devices
      local bytes
      module._type = 'torch.FloatTensor'
      bytes = torch.serialize(module)
      local read = torch.deserialize(bytes)
      assert.same({1, 1}, {read.device, read.outdevice})
   end)

   it('calls the function of apply with its device current', function()
      local _, split = both('torch.CudaTensor')
      local seen = {}
      split:apply(function(module)
         if torch.type(module) == 'nn.Linear' then table.insert(seen, cutorch.getDevice()) end
      end)
      assert.same({1, 2, 3}, seen)
   end)

   for _, threads in ipairs{false, true} do
      it('works next to and around nn.DataParallelTable, threads ' .. tostring(threads), function()
         local a, b, c = layers()
         local double = 'torch.CudaDoubleTensor'
         local one = nn.Sequential():add(a):add(b):add(c):type(double)
         local middle = nn.DataParallelTable(1, true):type(double):add(b:clone(), {2, 3})
         cutorch.withDevice(2, function() middle:get(1):type('torch.DoubleTensor'):type(double) end)
         if threads then middle:threads() end
         local split = nn.Sequential():add(nn.GPU(a:clone(), 3)):add(nn.GPU(middle, 2))
            :add(nn.GPU(c:clone(), 1))
         for _, copy in ipairs{split, split:clone(), torch.deserialize(torch.serialize(split))} do
            assert.same({3, 3, 2, 2, 1, 1}, devicesOf(copy))
            for rows = 1, 5 do
               local x, g = torch.randn(rows, 5):type(double), torch.randn(rows, 3):type(double)
               one:zeroGradParameters()
               copy:zeroGradParameters()
               same.close(one:forward(x), copy:forward(x), 1e-13)
               same.close(one:backward(x, g), copy:backward(x, g), 1e-13)
               local _, expected = one:parameters()
               local _, got = copy:parameters()
               same.close(expected, got, 1e-13)
            end
         end
      end)
   end

   it('names the way to an error', function()
      local _, split = both('torch.CudaTensor')
      local ok, message = pcall(split.forward, split, torch.randn(3, 6):cuda())
      assert.is_false(ok)
      assert.matches('In 1 module of nn.Sequential:\nIn 1 module of nn.GPU:\nIn 1 module', message)
      assert.equal(1, cutorch.getDevice())
   end)

   it('stays on its device when its part is flattened', function()
      local _, split = both('torch.CudaTensor')
      for i, module in ipairs(split.modules) do
         local parameters, gradients = module:getParameters()
         assert.same({i, i}, {parameters:getDevice(), gradients:getDevice()})
         gradients:fill(1)
         parameters:add(-1, gradients)
         assert.equal(parameters:nElement(), gradients:sum())
      end
      assert.same({1, 1, 2, 2, 3, 3}, devicesOf(split))
      assert.equal(3, split:forward(torch.randn(3, 5):cuda()):size(2))
   end)

   it('raises one error message for wrong arguments', function()
      assert.error_matches(function() nn.GPU(7, 1) end, 'wants an nn.Module as argument 1')
      assert.error_matches(function() nn.GPU(nn.Identity(), 'one') end, 'argument 2, got one')
      assert.error_matches(function() nn.GPU(nn.Identity(), 1, 0) end, 'argument 3, got 0')
      local _, split = both('torch.CudaTensor')
      assert.error_matches(function() split:getParameters() end,
         'parameter 1 is on device 1 and 3 on device 2')
      assert.error_matches(function() nn.DataParallelTable(1):add(split, {1, 2}) end,
         'add got a network with nn.GPU in it, which chooses devices itself')
      assert.error_matches(function() nn.DataParallel(split) end, 'a network with nn.GPU in it')
   end)
end)
