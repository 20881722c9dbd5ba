-- Deterministic mode: the bits do not depend on how parts are distributed over processes
-- (spec/support/ranks/bits.lua).
local ranks = require 'spec.support.ranks'

describe('nn.DistributedDataParallel in deterministic mode', function()
   local kinds = os.getenv 'DPT_RANKS' and {'host', 'emulated'} or {'host'}

   for _, kind in ipairs(kinds) do
      it('has the bits of one process with equal parts on 2x2 and 4x1, ' .. kind, function()
         if ranks.missing() then return pending(ranks.missing()) end
         local found = {}
         for _, case in ipairs{'1x4', '2x2', '4x1'} do
            local n, devices = case:match '(%d)x(%d)'
            local output, status = ranks.run(tonumber(n), 'bits', devices .. ' 6',
               ('DPT_DEVICES=%s:%s'):format(kind, devices))
            assert.equal(0, status, output)
            local count = 0
            for name, bits in output:gmatch '([%a_]+) has ([^\n]+)\n' do
               found[name] = found[name] or bits
               assert.equal(found[name], bits, case .. ' ' .. name)
               count = count + 1
            end
            assert.equal(6, count, output)
         end
      end)
   end
end)
