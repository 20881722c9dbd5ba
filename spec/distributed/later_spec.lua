-- A network modified by a script before or after wrapping: spec/support/ranks/later.lua.
local ranks = require 'spec.support.ranks'

for _, devices in ipairs{'host:1', 'host:2'} do
   describe('nn.DistributedDataParallel, with DPT_DEVICES=' .. devices .. ',', function()
      local holds = ranks.checks('later', '2', devices)

      it('follows methods that are set or removed', function() holds 'methods' end)
      it("sends rank 0's layers that are added to all ranks", function() holds 'added' end)
      it('continues after a backward that failed on all ranks', function() holds 'failures' end)
      it('drops as one process does without parameters', function() holds 'dropout' end)
      it('leaves a common part where another network has it', function() holds 'trunk' end)
      it('keeps parts shared between two networks that are flattened together',
         function() holds 'shared' end)
      it('builds the same layout of parameters on all ranks', function() holds 'places' end)
   end)
end
