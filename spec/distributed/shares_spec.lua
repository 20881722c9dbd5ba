-- Weights of gradients in nn.DistributedDataParallel: spec/support/ranks/shares.lua.
local ranks = require 'spec.support.ranks'

describe('A gradient of nn.DistributedDataParallel', function()
   local holds = ranks.checks('shares', '1 2 3', 'host:1')

   it('counts as its loss in noSync and updateGradInput, also in layers that add up over ranks',
      function() holds 'normalization' end)
   it('leaves the loss of noSync its weight when it is added up', function() holds 'loss' end)
   it('is weighted by the divisor of its criterion at that time', function() holds 'criterion' end)
   it('counts as its criterion in a table of several', function() holds 'heads' end)
   it('is rejected as a sum or copy of gradients with different divisors',
      function() holds 'sums' end)
   it('passes through dropouts that ranks draw independently', function() holds 'dropout' end)
   it('is saved in a state whose parts record their rank', function() holds 'states' end)
   it('is inspected as a whole by a loss scaler, so that all ranks skip the same steps',
      function() holds 'scaler' end)
   it('may be added up by a hook, in place or not', function() holds 'hook' end)
end)
