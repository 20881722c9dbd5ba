-- What gradients of nn.DistributedDataParallel count: spec/support/ranks/shares.lua.
local ranks = require 'spec.support.ranks'

describe('A gradient of nn.DistributedDataParallel', function()
   local outputs = {}

   local function holds(name)
      if ranks.missing() then return pending(ranks.missing()) end
      for _, n in ipairs{1, 2, 3} do
         outputs[n] = outputs[n] or ranks.run(n, 'shares', '', 'DPT_DEVICES=host:1')
         assert.matches(name .. ' holds\n', outputs[n], 1, true)
      end
   end

   it('counts as its loss in noSync and updateGradInput, also in layers that add up over ranks',
      function() holds 'normalization' end)
   it('leaves the loss of noSync its weight when it is added up', function() holds 'loss' end)
   it('counts as what its criterion divided by then', function() holds 'criterion' end)
   it('counts as its criterion in a table of several', function() holds 'heads' end)
   it('is no sum or copy of others that count differently', function() holds 'sums' end)
   it('goes through dropouts that ranks draw apart', function() holds 'dropout' end)
   it('goes into a state whose parts know whose they are', function() holds 'states' end)
   it('may be added up by a hook, in place or not', function() holds 'hook' end)
end)
