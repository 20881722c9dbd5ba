-- Prints the report of `dpt doctor` in each rank, in turn.
local distributed = require 'dpt.distributed'
distributed.transport()
for rank = 0, distributed.size() - 1 do
   if rank == distributed.rank() then
      io.stdout:setvbuf 'full'
      assert(require('dpt.launcher.doctor').run())
      io.stdout:flush()
   end
   distributed.barrier()
end
