-- Prints the rank and size that a program started by a rank sees.
local distributed = require 'dpt.distributed'
distributed.barrier()
print(('child: rank %d of %d'):format(distributed.rank(), distributed.size()))
