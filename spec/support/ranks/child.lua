-- What a program sees that a rank starts.
local distributed = require 'dpt.distributed'
distributed.barrier()
print(('child: rank %d of %d'):format(distributed.rank(), distributed.size()))
