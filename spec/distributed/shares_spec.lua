-- Weights of gradients in nn.DistributedDataParallel: spec/support/ranks/shares.lua.
local ranks = require 'spec.support.ranks'

describe('A gradient of nn.DistributedDataParallel', function()
   local holds = ranks.checks('shares', '1 2 3', 'host:1')

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
