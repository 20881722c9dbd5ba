-- How gradients of ranks are weighted, and when pending ones are summed, dropped or rejected:
-- spec/support/ranks/contract.lua.
local ranks = require 'spec.support.ranks'

describe('nn.DistributedDataParallel', function()
   local holds = ranks.checks('contract', '1 2 3', 'host:2')

   it('weights a gradient by its own criterion, independently of earlier passes',
      function() holds 'gradients' end)
   it('exchanges no counts if ranks have promised even batches', function() holds 'even' end)
   it("returns gradInput in the rank's own units", function() holds 'inputs' end)
   it('adds the loss of a module once', function() holds 'penalty' end)
   it('does not count a failed pass, or raises because gradients are invalid', function()
      holds 'failures'
   end)
   it("rejects uses of one rank's part of pending gradients", function()
      holds 'waiting'
   end)
end)
