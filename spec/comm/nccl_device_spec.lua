-- The state after a failed self-test of NCCL.
local standIn = require 'spec.support.stand_in'

describe('NCCL that sums wrongly #hostonly', function()
   it('is not used, and the current device does not change', function()
      local text = standIn.run([[
         cutorch.setDevice(1)
         print(pcall(comm.setTransport, 'nccl'))
         print('device', cutorch.getDevice())
      ]], 2, 'wrong')
      assert.truthy(text:find('NCCL was asked for', 1, true), text)
      assert.truthy(text:find '\ndevice%s+1\n', text)
   end)
end)
