-- Networks in several processes against one process: spec/support/ranks/training.lua.
local ranks = require 'spec.support.ranks'

describe('nn.DistributedDataParallel', function()
   -- processes x devices of each
   local cases = os.getenv 'DPT_RANKS' and {'1x4', '2x2', '4x1', '5x1', '8x1', '3x3'}
      or {'1x4', '2x2', '4x1', '3x1'}
   local steps = os.getenv 'DPT_RANKS' and 25 or 5

   for _, case in ipairs(cases) do
      it(('trains networks to the parameters of one process on %s'):format(case), function()
         if ranks.missing() then return pending(ranks.missing()) end
         local n, devices = case:match '(%d)x(%d)'
         local output, status = ranks.run(tonumber(n), 'training', devices .. ' ' .. steps,
            'DPT_DEVICES=host:' .. devices)
         assert.equal(0, status, output)
         assert.matches('7 networks agree', output, 1, true)
      end)
   end
end)
