-- Convolutions by cuDNN's graph interface. Where no GPU is here, cuDNN's stand-in
-- (spec/emulation/cudnn.cpp) proposes engines that must not be used before those that may be.
local gpu = require 'spec.support.gpu'
local run = require 'spec.support.run'

local function lua(code, variables)
   local environment = {DPT_CUDNN_GRAPH = '1', DPT_CUDA_REDUCED = '1',
      DPT_DEVICES = gpu.isHere and 'cuda:0,0' or 'emulated:2'}
   for name, value in pairs(variables or {}) do environment[name] = value end
   return run.lua("local dpt = require 'dpt'\nlocal torch, nn, cudnn, cutorch = dpt.torch, dpt.nn, "
      .. 'dpt.cudnn, dpt.cutorch\n' .. code, environment)
end

-- All passes of a layer, twice accumulated; each line of output is an error.
local compare = [[
   torch.manualSeed(tonumber(os.getenv 'DPT_SEED') or 1)
   local elements, both = require 'spec.support.elements', require 'spec.support.both'
   local kinds = {'CudaTensor', 'CudaDoubleTensor'}
   local limits = {CudaTensor = 2e-5, CudaDoubleTensor = 1e-12}
   for _, name in ipairs(elements.reduced) do
      local kind = elements.onDevice(name) .. 'Tensor'
      table.insert(kinds, kind)
      limits[kind] = 2 ^ (1 - both.bits(name))
   end
   local function near(wanted, got, limit, what)
      local scale = math.max(1, torch.abs(wanted):max())
      local off = (wanted - got:double()):abs():max() / scale
      if not (off <= limit) then print(what, off) end
   end
   -- A tensor at an address that is a multiple of an element only, where `odd`.
   local function place(x, kind, odd)
      local memory = torch[kind](x:nElement() + 1)
      return memory:narrow(1, odd and 2 or 1, x:nElement()):view(x:size()):copy(x)
   end
   local function check(host, x, kind, odd, what)
      local limit = limits[kind]
      what = what .. ' of ' .. kind
      local function rounded(t) return t:type('torch.' .. kind):double() end
      host, x = rounded(host), rounded(x)
      local device = host:clone():type('torch.' .. kind)
      if odd then
         device.weight = place(host.weight, kind, true)
         device.gradWeight = place(host.weight, kind, true)
      end
      local y = host:forward(x)
      local gy = rounded(torch.randn(y:size()))
      host:zeroGradParameters()
      host:backward(x, gy)
      host:accGradParameters(x, gy, 0.5)
      local there, gradient = place(x, kind, odd), place(gy, kind, odd)
      for _ = 1, 2 do
         near(y, device:forward(there), limit, what .. ', output')
         device:zeroGradParameters()
         near(host.gradInput, device:backward(there, gradient), limit, what .. ', gradInput')
         device:accGradParameters(there, gradient, 0.5)
         near(host.gradWeight, device.gradWeight, limit, what .. ', gradWeight')
      end
   end
   local random = torch.random
   local function layer()
      local groups = random(3)
      local I, O, k, s, d = groups * random(4), groups * random(4), random(3), random(2), random(2)
      local p = random(0, k - 1)
      local form = random(4)
      local size = {random(3), I, random(6, 9), random(6, 9)}
      if form == 1 then
         return cudnn.SpatialConvolution(I, O, k, random(3), s, 1, p, 0, groups), size
      elseif form == 2 then
         return nn.SpatialDilatedConvolution(I, O, k, k, s, s, p, p, d, d), size
      elseif form == 3 then
         return nn.SpatialFullConvolution(I, O, k, k, s, s, p, p, 0, s - 1), size
      end
      size[5] = random(5, 6)
      return cudnn.VolumetricConvolution(I, O, k, random(2), k, s, 1, s, p, 0, p, groups), size
   end
   for i = 1, 32 do
      cudnn.benchmark, cudnn.fastest = i % 3 == 0, i % 7 == 0
      local host, size = layer()
      cutorch.setDevice(1 + i % 2)
      check(host:double(), torch.randn(unpack(size)), kinds[1 + i % #kinds], i % 5 == 0,
         tostring(host))
   end
   cudnn.benchmark, cudnn.fastest = false, false
   local host = nn.TemporalConvolution(4, 5, 3, 2):double()
   check(host, torch.randn(3, 9, 4), 'CudaTensor', true, tostring(host))
   print 'compared'
]]

-- What cudnn.verbose says of the passes of a layer.
local function chosen(layer, sizes, before)
   return lua(([[
      cudnn.verbose = true
      local net, x = %s:cuda(), torch.randn(%s):cuda()
      %s
      net:backward(x, net:forward(x))
      cutorch.synchronize()
   ]]):format(layer, sizes, before or ''))
end

local function eachPass(text, wanted)
   for _, pass in ipairs{'forward', 'backward data', 'backward weight'} do
      assert.matches('cudnn: ' .. pass .. ',[^\n]*: ' .. wanted .. '\n', text)
   end
end

describe('Convolutions by the graph interface', function()
   it('equal the host for random shapes, also at odd addresses and if measured', function()
      assert.equal('compared\n', lua(compare))
   end)

   it('equal the host on queues that run later', function()
      local late = {DPT_EMULATED_ASYNC = '1', DPT_EMULATED_DELAY = '300'}
      assert.equal('compared\n', lua(compare, late))
   end)

   it('are captured', function()
      assert.equal('0\n', lua [[
         local net = nn.SpatialFullConvolution(3, 4, 4, 4, 2, 2, 1, 1):cuda()
         local x = torch.CudaTensor(2, 3, 5, 5):zero()
         net:forward(x:narrow(1, 1, 1)) -- a capture cannot make cuDNN's handle
         cudnn.benchmark = true
         local replay = cutorch.graph(function()
            net:zeroGradParameters()
            net:backward(x, net:forward(x))
         end)
         x:normal()
         replay()
         local gradient = net.gradWeight:clone()
         net:zeroGradParameters()
         net:backward(x, net:forward(x))
         print((gradient - net.gradWeight):abs():max())
      ]])
   end)

   if gpu.isHere then
      it('are computed by engines', function()
         eachPass(chosen('nn.SpatialConvolution(3, 4, 3, 3)', '2, 3, 8, 8'),
            'engine %d+ with %d+ bytes')
      end)
      return
   end

   it('use the first engine that is deterministic, rounds to float, exists and fits', function()
      eachPass(chosen('nn.SpatialConvolution(3, 4, 3, 3)', '2, 3, 8, 8'),
         'engine 6 with 5000 bytes')
   end)

   it('use an engine that rounds to TF32 if that is allowed', function()
      local text = chosen('nn.SpatialConvolution(3, 4, 3, 3)', '2, 3, 8, 8',
         'cutorch.setTF32(true)')
      eachPass(text, 'engine 3 with 0 bytes')
   end)

   it('use the fallback if the heuristics fail', function()
      eachPass(chosen('cudnn.SpatialConvolution(4, 4, 3, 3, 1, 1, 1, 1, 2)', '2, 4, 8, 8'),
         'engine 7 with 0 bytes')
   end)

   it('use the legacy interface if no engine exists', function()
      eachPass(chosen('nn.SpatialConvolution(3, 4, 1, 1)', '2, 3, 8, 8'),
         'no algorithm, computed by columns and products')
   end)

   it('state the alignment of their operands', function()
      local text = chosen('nn.SpatialConvolution(3, 4, 3, 3)', '2, 3, 8, 8',
         'x = torch.CudaTensor(385):narrow(1, 2, 384):view(2, 3, 8, 8):fill(1)')
      assert.matches('forward,[^\n]*: engine 7 with 0 bytes', text)
      assert.matches('backward data,[^\n]*: engine 6 with 5000 bytes', text)
      assert.matches('backward weight,[^\n]*: engine 7 with 0 bytes', text)
   end)
end)
