-- Copies of the empty tensors of ranks without rows: spec/support/ranks/empty_parts.lua.
local ranks = require 'spec.support.ranks'

describe('nn.DistributedDataParallel with a rank without rows', function()
   it("accepts batches without rows in tables of inputs and in scripts' modules", function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'empty_parts', '', 'DPT_DEVICES=host:2')
      assert.equal(0, status, output)
      assert.matches('a table of inputs holds', output, 1, true)
      assert.matches('a module of a script holds', output, 1, true)
   end)
end)
