-- Convolutions on devices against the host's doubles: all passes, dimensions and windows.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

local function volume(...) return cudnn.VolumetricConvolution(...) end

-- With enough planes and pixels, Winograd's algorithm transforms the operands.
local WINOGRAD = 5e-6

-- name, constructor, sizes of the input, and the rounding error of floats where it is larger
local cases = {
   {'1x1', function() return nn.SpatialConvolution(5, 7, 1, 1) end, {4, 5, 6, 9}},
   {'3x3', function() return nn.SpatialConvolution(3, 8, 3, 3, 1, 1, 1, 1) end, {5, 3, 9, 7}},
   {'strides, uneven', function() return nn.SpatialConvolution(4, 6, 5, 3, 3, 2, 2, 1) end,
      {3, 4, 11, 13}},
   {'padding beyond the kernel', function()
      return nn.SpatialConvolution(2, 3, 2, 2, 1, 1, 3, 4)
   end, {2, 2, 5, 4}},
   {'dilated', function()
      return nn.SpatialDilatedConvolution(3, 4, 3, 3, 2, 1, 2, 3, 2, 3)
   end, {2, 3, 12, 10}},
   {'groups', function() return cudnn.SpatialConvolution(6, 9, 3, 3, 1, 2, 1, 0, 3) end,
      {4, 6, 8, 8}},
   {'depthwise', function() return cudnn.SpatialConvolution(6, 6, 3, 3, 1, 1, 1, 1, 6) end,
      {2, 6, 7, 7}},
   {'transposed', function() return nn.SpatialFullConvolution(4, 3, 4, 4, 2, 2, 1, 1, 1, 1) end,
      {3, 4, 5, 6}},
   {'one image', function() return nn.SpatialConvolution(3, 4, 3, 3) end, {3, 8, 8}},
   {'one pixel', function() return nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1) end,
      {70, 3, 1, 1}},
   {'frames', function() return nn.TemporalConvolution(4, 5, 3, 2) end, {3, 9, 4}},
   {'volumes', function() return volume(2, 3, 2, 3, 3, 1, 2, 1, 1, 1, 0) end, {2, 2, 5, 7, 6}},
   {'volumes in groups', function() return volume(4, 4, 3, 3, 3, 2, 1, 1, 1, 1, 1, 2) end,
      {3, 4, 6, 5, 5}},
   {'volumes, transposed', function()
      return nn.VolumetricFullConvolution(3, 2, 3, 2, 3, 2, 2, 1, 1, 0, 1)
   end, {2, 3, 3, 4, 4}},
   {'many images', function() return nn.SpatialConvolution(3, 5, 3, 3) end, {40, 3, 10, 10}},
   {'large images', function() return nn.SpatialConvolution(64, 65, 1, 1) end, {9, 64, 16, 17}},
   {'many planes', function() return nn.SpatialConvolution(64, 32, 3, 3, 1, 1, 1, 1) end,
      {16, 64, 9, 11}, WINOGRAD},
   {'many planes without padding', function() return nn.SpatialConvolution(32, 48, 3, 3) end,
      {20, 32, 7, 10}, WINOGRAD},
   {'odd planes, uneven padding', function()
      return nn.SpatialConvolution(17, 33, 3, 3, 1, 1, 1, 2)
   end, {70, 17, 5, 6}, WINOGRAD},
   {'images of one tile', function() return nn.SpatialConvolution(40, 24, 3, 3) end,
      {100, 40, 5, 5}, WINOGRAD},
   {'blocks that end within rows', function()
      return nn.SpatialConvolution(8, 9, 3, 3, 1, 1, 1, 1)
   end, {1, 8, 46, 53}, WINOGRAD},
   {'many planes, transposed', function()
      return nn.SpatialFullConvolution(20, 18, 3, 3, 1, 1, 1, 1)
   end, {7, 20, 13, 29}, WINOGRAD},
   {'many planes, transposed without padding', function()
      return nn.SpatialFullConvolution(12, 16, 3, 3)
   end, {9, 12, 10, 11}, WINOGRAD},
}

-- Some algorithms of cuDNN transform their operands, which rounds more often than sums.
local made = {['host device'] = 2e-6, ['emulated device'] = 2e-6}
local rounding = made[dpt.cutorch.getDeviceProperties(1).name] or 2e-5

local function near(wanted, got, tolerance, what)
   assert.same(wanted:size():totable(), got:size():totable())
   local scale = math.max(1, torch.abs(wanted):max())
   local difference = (wanted - got:double()):abs():max() / scale
   assert(difference <= tolerance, ('%s: differs by %g'):format(what, difference))
end

describe('Convolutions on devices:', function()
   for _, case in ipairs(cases) do
      local name, make, size, large = unpack(case)
      for kind, tolerance in pairs{CudaTensor = rounding, CudaDoubleTensor = 1e-12} do
         for _, deterministic in ipairs{false, true} do
            local transformed = large and kind == 'CudaTensor' and not deterministic
            local limit = math.max(tolerance, transformed and large or 0)
            local mode = deterministic and ', deterministic' or ''
            it(name .. ' equals the host, ' .. kind .. mode, function()
               dpt.setDeterministic(deterministic)
               finally(function() dpt.setDeterministic(false) end)
               torch.manualSeed(5)
               local host = make():double()
               local device = host:clone():type('torch.' .. kind)
               local input = torch.randn(torch.LongStorage(size))
               local output = host:forward(input)
               local gradOutput = torch.randn(output:size())
               host:zeroGradParameters()
               host:backward(input, gradOutput)
               host:accGradParameters(input, gradOutput, 0.5)
               local x, gy = input:type('torch.' .. kind), gradOutput:type('torch.' .. kind)
               near(output, device:forward(x), limit, 'output')
               device:zeroGradParameters()
               near(host.gradInput, device:backward(x, gy), limit, 'gradInput')
               device:accGradParameters(x, gy, 0.5)
               near(host.gradWeight, device.gradWeight, limit, 'gradWeight')
               near(host.gradBias, device.gradBias, limit, 'gradBias')
               local first = device.gradWeight:double()
               device:zeroGradParameters()
               device:backward(x, gy)
               device:accGradParameters(x, gy, 0.5)
               near(first, device.gradWeight, 0, 'the same once more')
            end)
         end
      end
   end

   it('by transforms are right, and have the same bits with any number of threads', function()
      local before = torch.getnumthreads()
      finally(function() torch.setnumthreads(before) end)
      for _, size in ipairs{{5, 46, 53}, {90, 18, 14}, {13, 8, 9}} do
         torch.manualSeed(5)
         local m = nn.SpatialConvolution(17, 18, 3, 3, 1, 1, 1, 1):float()
         local x = torch.FloatTensor(size[1], 17, size[2], size[3]):normal()
         local gy, wanted = torch.FloatTensor(size[1], 18, size[2], size[3]):normal()
         local double = m:clone():double()
         double:zeroGradParameters()
         double:forward(x:double())
         double:backward(x:double(), gy:double())
         for threads = 1, 5 do
            torch.setnumthreads(threads)
            m:zeroGradParameters()
            local got = {m:forward(x):clone(), m:backward(x, gy):clone(), m.gradWeight:clone()}
            wanted = wanted or got
            for i, tensor in ipairs(wanted) do assert.is_true(torch.equal(tensor, got[i])) end
            near(double.gradWeight, m.gradWeight, WINOGRAD, 'gradWeight')
         end
      end
   end)

   it("an Inf, a NaN and a value near overflow only affect the kernel's outputs", function()
      torch.manualSeed(5)
      local device = nn.SpatialConvolution(64, 32, 3, 3, 1, 1, 1, 1):cuda()
      local input, gradOutput = torch.randn(16, 64, 9, 11), torch.randn(16, 32, 9, 11)
      for i, value in ipairs{math.huge, 0 / 0, 3e38, -3e38} do
         input[i][5][4][4], gradOutput[i][5][4][4] = value, value
      end
      local function passes()
         local output = device:forward(input:cuda()):double()
         device:zeroGradParameters()
         return {output, device:backward(input:cuda(), gradOutput:cuda()):double(),
            device.gradWeight:double()}
      end
      dpt.setDeterministic(true)
      finally(function() dpt.setDeterministic(false) end)
      local wanted = passes()
      dpt.setDeterministic(false)
      for k, got in ipairs(passes()) do
         local function count(t)
            return {t:ne(t):sum(), t:eq(math.huge):sum(), t:eq(-math.huge):sum()}
         end
         assert.same(count(wanted[k]), count(got))
      end
      assert.equal(9 * 32, wanted[1][1]:eq(math.huge):sum() + wanted[1][1]:eq(-math.huge):sum())
   end)

   it('the bits of an image do not depend on the others in deterministic mode', function()
      dpt.setDeterministic(true)
      finally(function() dpt.setDeterministic(false) end)
      local net = nn.SpatialConvolution(3, 5, 3, 3, 1, 1, 1, 1):cuda()
      local input = torch.randn(9, 3, 8, 8):cuda()
      local whole = net:forward(input):double()
      local gradOutput = torch.randn(9, 5, 8, 8):cuda()
      local gradient = net:updateGradInput(input, gradOutput):double()
      for i = 1, 9 do
         local one = input:narrow(1, i, 1)
         near(whole:narrow(1, i, 1), net:forward(one), 0, 'output')
         near(gradient:narrow(1, i, 1), net:updateGradInput(one, gradOutput:narrow(1, i, 1)), 0,
            'gradInput')
      end
   end)
end)
