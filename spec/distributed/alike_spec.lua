-- How ranks of nn.DistributedDataParallel stay alike: spec/support/ranks/alike.lua.
local ranks = require 'spec.support.ranks'

describe('nn.DistributedDataParallel', function()
   local holds = ranks.checks('alike', '2 3', 'host:2')

   it('H24: rejects ranks that were seeded apart', function() holds 'seeds' end)
   it("takes rank 0's generators where nobody asked for others", function() holds 'chance' end)
   it('rejects ranks that are seeded apart later', function() holds 'later' end)
   it('has the running statistics of ranks that had rows', function() holds 'statistics' end)
end)
