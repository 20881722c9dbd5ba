-- Uses of nn.DistributedDataParallel other than training (spec/support/ranks/wrapper.lua), and the
-- names of its collectives in messages (spec/support/ranks/mistakes.lua).
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'

describe('nn.DistributedDataParallel', function()
   local holds = ranks.checks('wrapper', '1 2 3', 'host:2')

   it('has the gradients of one process after forwards in evaluation', function()
      holds 'evaluation'
   end)
   it('sends gradients as halves', function() holds 'half' end)
   it('sends gradients as bfloat16', function() holds 'bfloat16' end)
   it('sums gradients of reduced types', function() holds 'reduced_types' end)
   it('sends them so from devices that the CPU cannot read', function()
      for _, hook in ipairs{'half', 'bfloat16', 'reduced_types'} do holds(hook, ranks.devices) end
   end)
   it('sends them so from devices that NCCL joins #hostonly', function()
      for _, hook in ipairs{'half', 'bfloat16', 'reduced_types'} do
         holds(hook, 'emulated:2 DPT_NCCL=' .. standIn.library)
      end
   end)
   it('makes methods that decide by the loss decide equally on all ranks',
      function() holds 'searches' end)
   it('trains the parameters that are not frozen', function() holds 'frozen' end)
   it('compares options of modules and samplers', function() holds 'options' end)
   it('keeps tables of devices equal if a rank has no rows', function() holds 'tables' end)
   it("has statistics by the wrapper's and the table's rules", function() holds 'statistics' end)
   it('counts rows where time is the first dimension', function() holds 'sequences' end)
   it('reports calls in a wrong order, or on the wrapper', function() holds 'orders' end)
   it('sums during the backward pass unless an option disables it', function() holds 'overlap' end)
   it('has the fields that are listed', function() holds 'fields' end)

   local function says(mistake, ...)
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'mistakes', mistake, 'DPT_TIMEOUT=100 DPT_DEVICES=host:2')
      assert.not_equal(0, status)
      assert.not_equal(124, status)
      for _, text in ipairs{...} do assert.matches(text, output, 1, true) end
   end

   it('is named where a rank has fewer batches', function()
      says('batches', 'rank 0 has ended its script, and rank 1 waits for it in allGather of 3'
         .. ' Double elements, in nn.DistributedDataParallel:forward')
   end)
   it('is named where one rank trains and another does not', function()
      says('modes', 'in nn.DistributedDataParallel:forward on rank 0',
         'in nn.DistributedDataParallel:backward on rank 1')
   end)
   it('is named if only one rank calls meanLoss', function()
      says('loss', 'in nn.DistributedDataParallel:meanLoss on rank 0',
         'in nn.DistributedDataParallel:forward on rank 1')
   end)
   it('is named where batches that are promised to be even are not', function()
      says('rows', ', gradients, bucket 1, of 5 rows, divided by 5 on rank',
         ', of 6 rows, divided by 6')
      says('weights', ', of 4 rows, divided by 4 on rank', ', of 4 rows, divided by 20')
   end)
   it('is named where a rank leaves a loop over join', function()
      says('join', 'rank 0 waits for it in allGather of 4 Double elements, in'
         .. ' nn.DistributedDataParallel:join')
   end)
end)
