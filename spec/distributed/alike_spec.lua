-- Ranks of nn.DistributedDataParallel stay identical, and net:checkAlike finds ranks that do not:
-- spec/support/ranks/alike.lua.
local ranks = require 'spec.support.ranks'

describe('nn.DistributedDataParallel', function()
   local holds = ranks.checks('alike', '2 3', 'host:2')

   it('H24: rejects ranks with different seeds', function() holds 'seeds' end)
   it("uses rank 0's generators if no rank was seeded", function() holds 'chance' end)
   it('rejects ranks that are seeded differently later', function() holds 'later' end)
   it('has the running statistics of ranks that had rows', function() holds 'statistics' end)
   it('names the first value that differs', function() holds 'values' end)
   it('names it on devices that the CPU cannot read', function()
      ranks.checks('alike', '2', ranks.devices) 'values'
   end)
   it('does not compare parts of a state that ranks share out', function() holds 'parts' end)
   it('checks from time to time by an option', function() holds 'option' end)
end)
