-- Two groups of the same two ranks, which call their operations in different orders, while a third
-- rank waits for them.
local distributed = require 'dpt.distributed'
local one, two = distributed.group{0, 1}, distributed.group{1, 0}
local rank = distributed.rank()
if rank == 0 then distributed.allReduce(torch.FloatTensor(5), 'sum', one) end
if rank < 2 then distributed.barrier(two) end
if rank == 1 then distributed.allReduce(torch.FloatTensor(5), 'sum', one) end
distributed.barrier()
