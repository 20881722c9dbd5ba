-- What goes wrong on one rank ends all of them, with a message that names the rank.
local faults = require 'spec.support.faults'
local ranks = require 'spec.support.ranks'

describe('ranks of which one goes wrong', function()
   it('end as they should if none does', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(3, 'faults', 'none 0 0 1', 'DPT_TIMEOUT=100')
      assert.equal(0, status, output)
      assert.matches('the end', output, 1, true)
   end)

   for i, fault in ipairs(faults.names) do
      it('end with its name: ' .. fault, function()
         if ranks.missing() then return pending(ranks.missing()) end
         faults.inject(fault, i % 3, 5, i)
      end)
   end
end)
