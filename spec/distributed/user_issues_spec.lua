-- Problems reported by users of PyTorch's DistributedDataParallel: spec/support/ranks/rows.lua has
-- a check for each row.
local ranks = require 'spec.support.ranks'

describe('issues of users of distributed networks:', function()
   local holds = ranks.checks('rows', os.getenv 'DPT_RANKS' or '1 2 3', 'host:2')

   it('H6: parameters that some ranks do not use need no option', function() holds 'H6' end)
   it('H7: parameters that no rank used keep their bits, and momentum continues',
      function() holds 'H7' end)
   it('H8: finding the used parameters needs no search and no communication',
      function() holds 'H8' end)
   it('H9: modules that are called twice and tied weights are waited for', function()
      holds 'H9'
   end)
   it('H10: a module that is called more often than before is named', function() holds 'H10' end)
   it('H11: ranks with more or fewer batches end together', function() holds 'H11' end)
   it('H12: the mean is over samples, over ranks, or there is none', function() holds 'H12' end)
   it('H12: terms of a loss with different divisors have the correct weights',
      function() holds 'H12_terms' end)
   it('H13: in noSync the terms of a loss have equal ratios, or raise',
      function() holds 'H13_terms' end)
   it('H13: noSync sends nothing and syncGradients needs no batch', function() holds 'H13' end)
   it('H14: no gradient is copied to a bucket', function() holds 'H14' end)
   it('H15: buckets need no memory', function() holds 'H15' end)
   it('H16: a gradient that is changed while it is sent is found out', function() holds 'H16' end)
   it('H17: ranks whose networks differ all report where', function() holds 'H17' end)
   it('H23: an infinity on one rank makes all ranks skip the step', function() holds 'H23' end)
   it('H18: normalization over ranks accepts parts of any size', function() holds 'H18' end)
   it('H18: normalization over ranks with several devices each accepts any number of rows',
      function()
      holds 'H18_devices'
   end)
   it('H19: the state of an optimizer is in parts, saved whole, and loads anywhere', function()
      holds 'H19'
   end)
   it('H22: ranks drop the same elements as one process', function() holds 'H22' end)
end)
