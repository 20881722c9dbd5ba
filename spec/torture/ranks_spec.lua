-- One of three ranks goes wrong somewhere: none hangs, and the message names the rank.
local faults = require 'spec.support.faults'
local ranks = require 'spec.support.ranks'
local torture = require 'spec.support.torture'

describe('ranks of which one goes wrong anywhere', function()
   it('end with its name', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local seed = tonumber(os.getenv 'DPT_SEED') or os.time()
      for i = 1, torture(200) do
         local s = seed % 100000 + i
         faults.inject(faults.names[i % #faults.names + 1], s % 3, s % 11 + 1, s)
      end
   end)
end)
