-- Normalization of host tensors over ranks: spec/support/ranks/host_normalization.lua.
local ranks = require 'spec.support.ranks'

describe('nn.SyncBatchNormalization on host tensors', function()
   for _, devices in ipairs{'host:1', 'none'} do
      for n in (os.getenv 'DPT_RANKS' or '1 2 3'):gmatch '%d+' do
         it(('has the statistics of %s ranks, DPT_DEVICES=%s'):format(n, devices), function()
            if ranks.missing() then return pending(ranks.missing()) end
            local output, status = ranks.run(tonumber(n), 'host_normalization', '',
               'DPT_DEVICES=' .. devices)
            assert.equal(0, status, output)
            assert.matches(n .. ' ranks agree with one process', output, 1, true)
         end)
      end
   end
end)
