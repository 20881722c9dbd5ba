-- Ranks of several devices with uneven rows, or none: spec/support/ranks/uneven_rows.lua.
local ranks = require 'spec.support.ranks'

describe('ranks of several devices with uneven rows', function()
   for _, dispatch in ipairs{'basic', 'threads'} do
      it('train and evaluate as one device does, with ' .. dispatch, function()
         if ranks.missing() then return pending(ranks.missing()) end
         local output, status = ranks.run(2, 'uneven_rows', dispatch, 'DPT_DEVICES=host:3')
         assert.equal(0, status, output)
         for _, name in ipairs{'linear', 'normalized', 'inside', 'doubles', 'lengths', 'states',
            'replicated', 'foreign', 'join'} do
            assert.matches(name .. ' holds', output, 1, true)
         end
      end)
   end

   it('counts sequences, also zero, on one device', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'uneven_rows', 'plain', 'DPT_DEVICES=host:1')
      assert.equal(0, status, output)
      assert.matches('lengths holds', output, 1, true)
   end)
end)
