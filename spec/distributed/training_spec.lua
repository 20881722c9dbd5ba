-- Networks trained by several processes, compared with one: spec/support/ranks/training.lua.
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'

describe('nn.DistributedDataParallel', function()
   -- processes x devices per process
   local cases = os.getenv 'DPT_RANKS' and {'1x4', '2x2', '4x1', '1x1', '2x1', '5x1', '8x1',
      '3x3'}
      or {'1x4', '2x2', '4x1', '3x1'}
   local steps = os.getenv 'DPT_RANKS' and 25 or 5

   local function train(case, kind, environment)
      if ranks.missing() then return pending(ranks.missing()) end
      local n, devices = case:match '(%d)x(%d)'
      local output, status = ranks.run(tonumber(n), 'training', devices .. ' ' .. steps,
         ('DPT_DEVICES=%s:%s %s'):format(kind, devices, environment or ''))
      assert.equal(0, status, output)
      assert.matches('10 networks agree', output, 1, true)
   end

   for _, case in ipairs(cases) do
      it(('trains networks to the parameters of one process on %s'):format(case), function()
         train(case, 'host')
      end)
   end

   if not os.getenv 'DPT_RANKS' then return end

   it('does so on devices that the CPU cannot read, by way of the host and by NCCL', function()
      train('2x2', 'emulated')
      train('2x2', 'emulated', 'DPT_NCCL=' .. standIn.library)
      train('3x1', 'emulated', 'DPT_NCCL=' .. standIn.library)
   end)
end)
