-- How many kernels an operation launches on a GPU, as the emulation counts them.
local run = require 'spec.support.run'

local counts = [[
   local ffi = require 'ffi'
   local dpt = require 'dpt'
   local torch, cutorch = dpt.torch, dpt.cutorch
   ffi.cdef 'long long emulated_launches(void);'
   local x = {}
   for i, size in ipairs{{1000, 4}, {3, 8192}, {3, 8193}} do
      x[i] = torch.CudaTensor(unpack(size)):fill(1)
   end
   local maps = assert(io.open '/proc/self/maps'):read '*a'
   local lib = ffi.load(maps:match '/%S*libdpt_emulated%S*')
   for i = 1, #x do
      cutorch.synchronize()
      local before = lib.emulated_launches()
      local sums = torch.sum(x[i], 2)
      cutorch.synchronize()
      print(tonumber(lib.emulated_launches() - before), sums:min() == x[i]:size(2))
   end
]]

describe('A reduction on a GPU #hostonly', function()
   it('is one launch if a block is enough for a row', function()
      local emulated = {DPT_DEVICES = 'emulated:1'}
      assert.equal('1\ttrue\n1\ttrue\n2\ttrue\n', run.lua(counts, emulated))
   end)
end)
