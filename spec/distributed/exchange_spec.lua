-- Messages between ranks, min and max of NaN, and rounding (spec/support/ranks/exchange.lua).
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'
local distributed = require 'dpt.distributed'

describe('dpt.distributed.exchange and others', function()
   local nccl = 'emulated:2 DPT_NCCL=' .. standIn.library
   local kinds = {
      {'host devices', 'host:2', '1 2 3'},
      {'devices that MPI cannot read', ranks.devices, '2'},
      {'devices that NCCL joins #hostonly', nccl, '2 3'},
   }

   for _, kind in ipairs(kinds) do
      describe('with ' .. kind[1], function()
         local holds = ranks.checks('exchange', os.getenv 'DPT_RANKS' or kind[3],
            kind[2] .. ' DPT_TIMEOUT=100')
         it('sends in a ring', function() holds 'ring' end)
         it('sends in a group of some ranks', function() holds 'exchange_group' end)
         it('sends to both sides', function() holds 'neighbours' end)
         it('distinguishes messages by their tags', function() holds 'tags' end)
         it('fits to send and receive', function() holds 'plain' end)
         it('sends empty tensors and parts of larger ones', function() holds 'little' end)
         it('follows the order of the stream', function() holds 'order' end)
         it('accepts tensors of several devices', function() holds 'devices' end)
         it('names the wrong argument', function() holds 'arguments' end)
         it('sends a part to each (allToAll)', function() holds 'allToAll' end)
         it('names the wrong argument of allToAll', function() holds 'allToAll_arguments' end)
         it('returns NaN for extremes if a rank has NaN', function()
            holds 'not_a_number'
         end)
         it('rounds sums of reduced types once', function() holds 'rounded_once' end)
         it('ends the job', function() holds 'the end' end)
      end)
   end

   it('does nothing in a world of one rank', function()
      assert.is_true(distributed.exchange{}:done())
      local out = torch.FloatTensor(3)
      assert.is_true(distributed.allToAll(out, torch.FloatTensor{1, 2, 3}):wait():done())
      assert.same({1, 2, 3}, out:totable())
   end)
end)
