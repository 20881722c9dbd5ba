--- dpt.parallel.ranks.host_random: what host tensors draw in a pass of one rank.
--
-- Invariant: ranks draw differently in passes, and alike outside of them: a pass goes by a
-- generator of its own, and the default one is afterwards as it was. (Numbers of host tensors have
-- no rows, so several ranks do not draw what one process would; those of device tensors do.)
local torch = require 'dpt.tensor'

local own = torch.Generator()

--- Calls f(...), pass number `pass` of a rank.
-- @return what f returns
return function(pass, rank, f, ...)
   local before = torch.getRNGState()
   torch.manualSeed(own, (torch.initialSeed() + pass * 1000003 + rank * 7919) % 2 ^ 52)
   torch.setRNGState(torch.getRNGState(own))
   local results = {pcall(f, ...)}
   torch.setRNGState(before)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end
