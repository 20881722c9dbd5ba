-- How gradients of ranks are weighted, and when pending ones are summed, dropped or rejected:
-- spec/support/ranks/contract.lua.
local ranks = require 'spec.support.ranks'

describe('nn.DistributedDataParallel', function()
   local holds = ranks.checks('contract', '1 2 3', 'host:2')

   it('counts a gradient by what it is, whatever ran before', function() holds 'gradients' end)
   it('asks for nothing where ranks have promised even batches', function() holds 'even' end)
   it("returns gradInput in the rank's own units", function() holds 'inputs' end)
   it('adds the loss of a module once', function() holds 'penalty' end)
   it('counts no pass that fails, or says that gradients are spoiled', function()
      holds 'failures'
   end)
   it("rejects what would use one rank's part of gradients that wait", function()
      holds 'waiting'
   end)
end)
