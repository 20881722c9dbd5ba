local dpt = require 'dpt'
local torch, cutorch, nccl = dpt.torch, dpt.cutorch, dpt.nccl
local core = require 'dpt.tensor.core'
local same = require 'spec.support.parallel'

local TYPES = {}
for dtype = 0, #core.elements do TYPES[1 + dtype] = core.tensorNames[dtype + core.ON_DEVICE] end

describe('nccl', function()
   local most = same.most(5)

   -- Returns n tensors of small integers, exact in every type, tensor i on device i.
   local function inputs(typename, n, count)
      torch.manualSeed(count + n)
      local list, sum = {}, torch.DoubleTensor(count):zero()
      for i = 1, n do
         local values = torch.DoubleTensor(count):random(0, 9)
         sum:add(values)
         list[i] = cutorch.withDevice(i, function() return values:type(typename) end)
      end
      return list, sum
   end

   local function onDevice(i, typename, count)
      return cutorch.withDevice(i, function()
         return torch.getmetatable(typename).new(count):fill(99)
      end)
   end

   for _, typename in ipairs(TYPES) do
      for n = 1, most do
         for _, count in ipairs{1, 7, 1000} do
            it(('sums, reduces and broadcasts %s on %d devices, %d elements'):format(typename, n,
               count), function()
               local list, sum = inputs(typename, n, count)
               local outputs = {}
               for i = 1, n do outputs[i] = onDevice(i, typename, count) end
               nccl.allReduce(list, outputs)
               for i = 1, n do
                  same.bits(sum, outputs[i]:double())
                  assert.equal(i, outputs[i]:getDevice())
               end
               nccl.allReduce(list)
               for i = 1, n do same.bits(sum, list[i]:double()) end
               for root = 1, n do
                  list = inputs(typename, n, count)
                  local target = {}
                  target[root] = onDevice(root, typename, count)
                  nccl.reduce(list, target, true, root)
                  same.bits(sum, target[root]:double())
                  nccl.reduce(list, nil, false, root)
                  same.bits(sum, list[root]:double())
                  nccl.bcast(list, root % 2 == 0, root)
                  for i = 1, n do same.bits(sum, list[i]:double()) end
               end
            end)
         end
      end
   end

   it('gathers on all devices and scatters sums for parts of different sizes', function()
      for n = 1, most do
         local list, all = {}, {}
         for i = 1, n do
            list[i] = inputs('torch.CudaTensor', i, 3 * i - 1)[i]
            all[i] = list[i]:double()
         end
         all = torch.cat(all, 1)
         local outputs = {}
         for i = 1, n do outputs[i] = torch.CudaTensor() end
         nccl.allGather(list, outputs)
         for i = 1, n do
            same.bits(all, outputs[i]:double())
            assert.equal(i, outputs[i]:getDevice())
         end
         local parts = {}
         for i = 1, n do parts[i] = onDevice(i, 'torch.CudaTensor', 3 * i - 1) end
         nccl.reduceScatter(outputs, parts)
         for i = 1, n do same.bits(list[i]:double():mul(n), parts[i]:double()) end
      end
   end)

   it('returns the bits of reduceAdd, small or large, and the same every time', function()
      for _, count in ipairs{100, 700001} do
         local list = {}
         for i = 1, most do
            list[i] = cutorch.withDevice(i, function() return torch.randn(count):cuda() end)
         end
         local sum = dpt.comm.reduceAdd(list, 1)
         local expected = list[1]:double()
         for i = 2, most do expected:add(list[i]:double()) end
         same.bits(expected:float(), sum) -- wide accumulator, rounded once
         local outputs = {}
         for i = 1, most do outputs[i] = onDevice(i, 'torch.CudaTensor', count) end
         nccl.allReduce(list, outputs)
         for i = 1, most do same.bits(sum, outputs[i]) end
         nccl.reduce(list, nil, false, most)
         same.bits(sum, list[most])
      end
   end)

   it('accepts non-contiguous tensors as inputs', function()
      local list = {}
      for i = 1, most do
         list[i] = cutorch.withDevice(i, function()
            return torch.randn(3, 4):mul(99):floor():cuda():t() -- sums are exact in any order
         end)
      end
      local expected = list[1]:double()
      for i = 2, most do expected:add(list[i]:double()) end
      local outputs = {}
      for i = 1, most do
         outputs[i] = cutorch.withDevice(i, function() return torch.CudaTensor(4, 3) end)
      end
      nccl.allReduce(list, outputs)
      same.bits(expected:float(), outputs[most])
      assert.error_matches(function() nccl.allReduce(list) end, 'contiguous')
   end)

   it('rejects wrong arguments by name #devices2', function()
      local a = onDevice(1, 'torch.CudaTensor', 4)
      local b = onDevice(math.min(2, most), 'torch.CudaTensor', 4)
      assert.error_matches(function() nccl.allReduce{} end, 'one input at least')
      assert.error_matches(function() nccl.allReduce{torch.FloatTensor(4)} end, 'in host memory')
      assert.error_matches(function() nccl.bcast({a, b}, false, 3) end,
         'root is 3, wanted one of the 2 tensors')
      assert.error_matches(function() nccl.bcast{torch.FloatTensor(4)} end, 'in host memory')
      assert.error_matches(function() nccl.reduce({a}, {}) end, 'no output 1')
      assert.error_matches(function() nccl.allGather{a} end, "argument 'outputs'")
      assert.error_matches(function() nccl.reduceScatter({a}, {}) end, '0 outputs for 1 inputs')
      if most < 2 then return end
      assert.error_matches(function() nccl.allReduce{a, a:clone()} end,
         'inputs 1 and 2 are both on device 1')
      assert.error_matches(function() nccl.bcast{a, a:clone()} end, 'device 1 is there twice')
      assert.error_matches(function() nccl.allReduce({a, b}, {b, a}) end,
         'input 1 is on device 1 and its output on device 2')
      assert.error_matches(function() nccl.allReduce{a, onDevice(2, 'torch.CudaTensor', 5)} end,
         'input 2 is a torch.CudaTensor of size 5, wanted 4 elements')
      assert.error_matches(function() nccl.reduceScatter({a, b}, {a, b}) end, 'wanted 8 elements')
      assert.error_matches(function() nccl.allReduce{a, onDevice(2, 'torch.CudaIntTensor', 4)} end,
         'wanted a contiguous torch.CudaTensor')
   end)

   it('is the module that require returns', function()
      assert.equal(nccl, require 'nccl')
   end)
end)
