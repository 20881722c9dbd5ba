-- dpt.parallel.ranks.generators in a world of one; spec/distributed/alike_spec.lua has several.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local world = require('dpt.distributed.group').world
local generators = require 'dpt.parallel.ranks.generators'

describe('dpt.parallel.ranks.generators', function()
   it("copies rank 0's states", function()
      torch.manualSeed(3)
      local devices = cutorch.getDeviceCount()
      local wanted = {torch.random()}
      for device = 1, devices do
         wanted[device + 1] = cutorch.withDevice(device, torch.CudaTensor, 1):uniform()[1]
      end
      torch.manualSeed(3)
      generators.share('nn.Class', devices, world)
      local found = {torch.random()}
      for device = 1, devices do
         found[device + 1] = cutorch.withDevice(device, torch.CudaTensor, 1):uniform()[1]
      end
      assert.same(wanted, found)
   end)
end)
