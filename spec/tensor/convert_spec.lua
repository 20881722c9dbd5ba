-- Copies between types, views and devices, synchronous or from page-locked memory.
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local ffi = require 'ffi'
local run = require 'spec.support.run'
local torch, cutorch = dpt.torch, dpt.cutorch

local function storageTypes()
   local list = {}
   for i, kind in ipairs(elements.everywhere) do list[i] = kind .. 'Storage' end
   return list
end

describe('A copy', function()
   after_each(function() cutorch.setDevice(1) end)

   it('converts storages of every type to those of every type', function()
      local numbers, list = {1, 0, 127, 12, 2, 3, 5, 7, 11, 13}, storageTypes()
      for _, a in ipairs(list) do
         local from = torch[a](#numbers):copy(torch.DoubleStorage(numbers))
         for _, b in ipairs(list) do
            local to = torch[b](#numbers):copy(from)
            assert.equal('torch.' .. b, torch.type(to))
            assert.same(numbers, to:totable())
         end
      end
   end)

   it('warns once of a device that cuda(device) ignores, as Torch7 did', function()
      local text = run.lua [[
         require 'dpt'
         io.stdout:setvbuf 'no'
         local x = torch.Tensor(3)
         x:cuda() x:cuda(1) x:float(5) x:cudaLong(1) torch.FloatStorage(3):cuda(1)
         nn.MSECriterion():cuda(1):float(5)
         print 'quiet'
         for _ = 1, 2 do
            print(x:cuda(5):getDevice())
            x:cudaHalf(5)
            torch.FloatStorage(3):cuda(5)
            nn.MSECriterion():cuda(5)
            nn.CrossEntropyCriterion():cuda(5)
         end
         print(pcall(nn.Linear(1, 1).cuda, nn.Linear(1, 1), 2))]]
      local function warning(name)
         return ("dpt: %s: argument 'device' is ignored, as in Torch7: got 5, the result is on"
            .. ' device 1 (cutorch.setDevice chooses where new tensors are)\n'):format(name)
      end
      assert.equal('quiet\n' .. warning 'Tensor:cuda' .. '1\n' .. warning 'Tensor:cudaHalf'
         .. warning 'Storage:cuda' .. warning 'Criterion:cuda' .. '1\n'
         .. "false\tnn.Linear:cuda: argument 'tensorCache' is a number, wanted a table;"
         .. ' cutorch.setDevice chooses where new tensors are\n', (text:gsub('/%S+:14: ', '')))
   end)

   it('that is asynchronous copies page-locked memory to a device and back', function()
      for _, kind in ipairs(elements.reals) do
         local host = cutorch['createCudaHost' .. kind .. 'Tensor'](5000)
         host:copy(torch.range(1, 5000):mul(0.25))
         local there = torch[elements.onDevice(kind) .. 'Tensor'](5000)
         there:copyAsync(host)
         cutorch.streamSynchronize(cutorch.getStream())
         assert.equal(0, (there:double() - host:double()):abs():max())
         there:mul(2)
         local back = cutorch['createCudaHost' .. kind .. 'Tensor'](5000)
         back:copyAsync(there)
         cutorch.streamSynchronize(cutorch.getStream())
         assert.equal(0, (there:double() - back:double()):abs():max())
      end
   end)

   it('between devices has the values at the time of the call, for any views', function()
      local last = cutorch.getDeviceCount()
      for case = 0, 3 do
         local a, b
         cutorch.withDevice(1, function() a = torch.CudaTensor(300, 200):fill(1) end)
         cutorch.withDevice(last, function() b = torch.CudaTensor(300, 200):fill(2) end)
         if case >= 2 then a, b = a:view(200, 300), b:t() end
         if case % 2 == 1 then a = a:t():contiguous():t() end
         cutorch.withDevice(last, function() b:fill(3) end)
         b:copy(a)
         cutorch.withDevice(1, function() a:fill(4) end)
         cutorch.withDevice(last, function()
            assert.same({1, 1}, {b:min(), b:max()})
         end)
      end
   end)

   it('of NaNs to halves keeps only their signs, at any position', function()
      local x = torch.FloatTensor(17)
      local bits = ffi.cast('uint32_t *', x:data())
      for i = 0, 16 do bits[i] = i % 2 == 0 and 0x7fc12345 or 0xff812345 end
      local halves = x:half()
      bits = ffi.cast('uint16_t *', halves:data())
      for i = 0, 16 do assert.equal(i % 2 == 0 and 0x7e00 or 0xfe00, bits[i]) end
   end)

   it('of a large view with overlapping elements is complete', function()
      local x = torch.range(1, 7200):resize(20, 1, 6, 60):float()
      local want = torch.FloatTensor(20, 30, 6, 60):copy(x:expand(20, 30, 6, 60))
      local got = torch.CudaTensor(20, 30, 6, 60):copy(x:cuda():expand(20, 30, 6, 60))
      assert.equal(0, (want - got:float()):abs():max())
      assert.equal(30 * x:sum(), want:double():sum())
   end)
end)
