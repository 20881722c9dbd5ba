-- Counts the kernels that a step of nn.MixedPrecision launches on a GPU, using the emulation.
local run = require 'spec.support.run'

local script = [[
   local ffi = require 'ffi'
   local dpt = require 'dpt'
   local torch, cutorch, nn, optim = dpt.torch, dpt.cutorch, dpt.nn, dpt.optim
   ffi.cdef 'long long emulated_launches(void);'
   torch.CudaTensor(1):fill(1)
   local lib = ffi.load(io.open '/proc/self/maps':read '*a':match '/%S*libdpt_emulated%S*')
   local function counts(mixed, scaler)
      torch.manualSeed(1)
      local net = nn.Sequential():add(nn.Linear(8, 32)):add(nn.LayerNorm(32)):add(nn.GELU())
         :add(nn.Linear(32, 16)):add(nn.ReLU(true)):add(nn.Linear(16, 4)):cuda()
      if mixed then net = nn.MixedPrecision(net, mixed) end
      local x, g = net:getParameters()
      local input, gradOutput = torch.CudaTensor(4, 8):normal(), torch.CudaTensor(4, 4):normal()
      local config, list = {scaler = scaler}, nil
      local function phase(f)
         cutorch.synchronize()
         local before = lib.emulated_launches()
         f()
         cutorch.synchronize()
         list[#list + 1] = tonumber(lib.emulated_launches() - before)
      end
      for _ = 1, 3 do
         list = {}
         phase(function() net:zeroGradParameters() end)
         phase(function() net:forward(input) end)
         phase(function() net:backward(input, gradOutput) end)
         phase(function() optim.adam(function() return 0, g end, x, config) end)
      end
      return list
   end
   local floats = counts()
   for _, name in ipairs{'bfloat16', 'half'} do
      local list = counts(name)
      local scaled = counts(name, optim.LossScaler())
      print(list[1], list[2] - floats[2], list[3] - floats[3], list[4] - floats[4],
         scaled[4] - list[4])
   end
]]

describe('nn.MixedPrecision on a GPU #hostonly', function()
   it('launches conversions at its border only, and few for floats and a scaler', function()
      -- zeroing; input and output; gradOutput and gradInput; parameters that stay in float; with a
      -- scaler, the norm of the gradient, the scale, and the number of steps
      local output = run.lua(script, {DPT_DEVICES = 'emulated:1', DPT_CUDA_REDUCED = '1',
         DPT_CUDA_NEW = '1'})
      assert.equal('1\t2\t2\t2\t3\n1\t2\t2\t2\t3\n', output)
   end)
end)
