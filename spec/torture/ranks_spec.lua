-- One of three ranks fails somewhere: none hangs, and the message names the rank.
local faults = require 'spec.support.faults'
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'
local torture = require 'spec.support.torture'

-- Devices whose memory MPI reads, and devices that use NCCL; it rejects one GPU used twice.
local nccl = 'DPT_DEVICES=emulated:2 DPT_NCCL=' .. standIn.library
local devices = {'DPT_DEVICES=host:2',
   require('spec.support.gpu').isHere and 'DPT_NCCL=none DPT_DEVICES=' .. ranks.devices or nccl}

describe('ranks whose devices NCCL joins #hostonly', function()
   for fault, said in pairs{
      hang = 'rank %d: allReduce of 5 Float elements %(sum%), between devices, gradients '
         .. '%(operation %d+%) has taken longer than 2 s %(DPT_TIMEOUT%); come: 0%-1',
      unready = 'rank %d: joining of devices %(operation 1%) has taken longer than 2 s '
         .. '%(DPT_TIMEOUT%); come: 0%-1',
   } do
      it('end by the deadline if NCCL hangs: ' .. fault, function()
         if ranks.missing() then return pending(ranks.missing()) end
         local output, status = ranks.run(2, 'devices', fault, nccl .. ' DPT_TIMEOUT=100')
         assert.matches(said, output)
         assert.is_true(status ~= 0 and status ~= 124, output)
      end)
   end
end)

describe('ranks of which one fails anywhere', function()
   it('end if threads use groups in different orders', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'order_of_threads', nil, 'DPT_TIMEOUT=100')
      assert.is_true(status ~= 0 and status ~= 124, output)
      assert.matches('waits for rank %d in allReduce of 5 Float elements %(sum%), and rank %d for '
         .. 'rank %d in allReduce of 5 Float elements %(sum%) of another group', output)
   end)

   it('report as much as possible without records', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'faults', 'stop 1 5 1',
         'DPT_TIMEOUT=100 DPT_DEVICES=host:2 DPT_FLIGHT=/nonexistent')
      assert.not_equal(0, status)
      assert.not_equal(124, status)
      assert.matches('has taken longer than 2 s %(DPT_TIMEOUT%); come: 0; rank 1: has no record',
         output)
   end)

   it('end with its name', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local seed = (tonumber(os.getenv 'DPT_SEED') or os.time()) % 100000
      print('DPT_SEED=' .. seed)
      local counts, i, done = {}, 0, 0
      while done < torture(200) do
         i = i + 1
         local s = seed + i
         local fault, place = faults.names[i % #faults.names + 1], faults.places[s % 9 + 1]
         local environment = devices[math.floor(i / #faults.names) % #devices + 1]
         if faults.inject(fault, s % 3, place or s % 12 + 1, s, environment) then
            done = done + 1
            local row = ('%-10s %s'):format(place or 'operation', fault)
            counts[row] = (counts[row] or 0) + 1
         end
      end
      local rows = {}
      for row, count in pairs(counts) do rows[#rows + 1] = ('%-18s %4d'):format(row, count) end
      table.sort(rows)
      print(table.concat(rows, '\n'))
   end)
end)
