-- Rank 2 ends while the others are in a barrier of all ranks.
local distributed = require 'dpt.distributed'
if distributed.rank() < 2 then distributed.barrier() end
