--- dpt.parallel.ranks.exchange: gathers a few numbers from every rank of a group on all its ranks.
--
-- Invariant: a call is one all-gather of doubles in host memory and waits for all ranks of the
-- group.
local torch = require 'dpt.tensor'
local distributed = require 'dpt.distributed'

local sent, received = {}, {} -- tensors by number of elements

local function bufferOf(list, n)
   list[n] = list[n] or torch.DoubleTensor(n)
   return list[n]
end

--- Returns the numbers of all ranks of a group.
-- @param numbers list of the same length on all ranks
-- @return list of lists; entry r + 1 is that of group rank r
return function(group, numbers)
   local n, size = #numbers, group:size()
   local mine, all = bufferOf(sent, n), bufferOf(received, size * n)
   local own, every = mine:data(), all:data()
   for k = 1, n do own[k - 1] = numbers[k] end
   distributed.allGather(all, mine, group)
   local list = {}
   for r = 1, size do
      list[r] = {}
      for k = 1, n do list[r][k] = every[(r - 1) * n + k - 1] end
   end
   return list
end
