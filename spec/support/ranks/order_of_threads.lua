-- Two ranks with two workers each, which use two groups. Rank 0's first worker and rank 1's second
-- one begin, so each rank is in an operation that the other has not begun.
local threads = require 'threads'
local distributed = require 'dpt.distributed'
local rank = distributed.rank()
local pool = threads.Threads(2, function() require 'dpt' end)
pool:specific(true)
for worker = 1, 2 do
   pool:addjob(worker, function()
      group = require('dpt.distributed').group(worker == 1 and {0, 1} or {1, 0}) -- luacheck: ignore
   end)
   pool:synchronize()
end
for worker = 1, 2 do
   pool:addjob(worker, function()
      if worker - 1 ~= rank then require('dpt.ffi').C.dpt_sleep(0.5) end
      require('dpt.distributed').allReduce(torch.FloatTensor(5), 'sum', group) -- luacheck: ignore
   end)
end
pool:synchronize()
