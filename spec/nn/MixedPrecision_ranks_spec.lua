-- nn.MixedPrecision trained by several ranks.
local ranks = require 'spec.support.ranks'

describe('nn.MixedPrecision in nn.DistributedDataParallel', function()
   it('trains as one process does, with gradients in float or as bfloat16', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'mixed', '', 'DPT_DEVICES=' .. ranks.devices)
      assert.equal(0, status, output)
      local expected = {}
      for _, where in ipairs{'host', 'device', 'devices'} do
         for _, how in ipairs{'float\t4', 'bfloat16\t2'} do
            expected[#expected + 1] = ('%s\t%s\ttrue\n'):format(where, how)
         end
      end
      assert.is_truthy(output:find(table.concat(expected), 1, true), output)
   end)
end)
