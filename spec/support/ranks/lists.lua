-- Lists with the same total of elements in tensors of other sizes: valid if all ranks agree; an
-- error that names both sizes if rank 1 has another order.
local distributed = require 'dpt.distributed'
local rank = distributed.rank()
local function list(...)
   local tensors = {}
   for i, n in ipairs{...} do tensors[i] = torch.FloatTensor(n):fill(i) end
   return tensors
end
local sums = list(10, 3)
distributed.allReduce(sums)
assert(sums[1]:sum() == 10 * distributed.size() and sums[2]:sum() == 6 * distributed.size())
local out = {torch.FloatTensor(distributed.size(), 2), torch.FloatTensor(distributed.size(), 1)}
distributed.allGather(out, list(2, 1))
assert(out[2]:sum() == 2 * distributed.size())
distributed.broadcast(list(4, 5), 0)
print('alike')
distributed.allReduce(rank == 1 and list(3, 10) or list(10, 3))
