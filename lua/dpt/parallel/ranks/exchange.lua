--- dpt.parallel.ranks.exchange: a few numbers of every rank, on every rank.
--
-- Invariant: one collective of doubles in host memory for a call, which waits for all ranks.
local torch = require 'dpt.tensor'
local distributed = require 'dpt.distributed'

local mine, all = {}, {} -- by how many numbers

--- The numbers of all ranks.
-- @return list[rank + 1] of lists
return function(...)
   local n, size = select('#', ...), distributed.size()
   mine[n] = mine[n] or torch.DoubleTensor(n)
   all[n] = all[n] or torch.DoubleTensor(size * n)
   local own, every = mine[n]:data(), all[n]:data()
   for k = 1, n do own[k - 1] = (select(k, ...)) end
   distributed.allGather(all[n], mine[n])
   local list = {}
   for r = 1, size do
      list[r] = {}
      for k = 1, n do list[r][k] = every[(r - 1) * n + k - 1] end
   end
   return list
end
