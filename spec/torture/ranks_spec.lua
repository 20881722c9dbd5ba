-- One of three ranks goes wrong somewhere: none hangs, and the message names the rank.
local faults = require 'spec.support.faults'
local ranks = require 'spec.support.ranks'
local torture = require 'spec.support.torture'

describe('ranks of which one goes wrong anywhere', function()
   it('end with its name', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local seed = (tonumber(os.getenv 'DPT_SEED') or os.time()) % 100000
      print('DPT_SEED=' .. seed)
      for i = 1, torture(200) do
         local s = seed + i
         local place = faults.places[s % 8 + 1] or s % 12 + 1
         faults.inject(faults.names[i % #faults.names + 1], s % 3, place, s)
      end
   end)
end)
