--- bench threads: the round trip of a small job to a worker, against condition variables in C
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local dptffi = require 'dpt.ffi'
local threads = require 'threads'

local N, TARGET = 5000, 15
local peer = frame.c([[
   #include <pthread.h>
   static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
   static pthread_cond_t there = PTHREAD_COND_INITIALIZER, back = PTHREAD_COND_INITIALIZER;
   static int jobs, answers, wanted;
   static void *work(void *none) {
     pthread_mutex_lock(&mutex);
     while (answers < wanted) {
       while (jobs == answers) pthread_cond_wait(&there, &mutex);
       answers++;
       pthread_cond_signal(&back);
     }
     pthread_mutex_unlock(&mutex);
     return none;
   }
   void round_trips(int n) {
     pthread_t thread;
     jobs = answers = 0;
     wanted = n;
     pthread_create(&thread, 0, work, 0);
     pthread_mutex_lock(&mutex);
     for (int i = 0; i < n; i++) {
       jobs++;
       pthread_cond_signal(&there);
       while (answers < jobs) pthread_cond_wait(&back, &mutex);
     }
     pthread_mutex_unlock(&mutex);
     pthread_join(thread, 0);
   }
]], 'void round_trips(int n);')

local function job(a) return a + 1 end
local function nothing() end

local function trips(pool, ...)
   for _ = 1, N do
      pool:addjob(job, nothing, ...)
      pool:synchronize()
   end
end

threads.serialization 'threads.sharedserialize'
local pool, several = threads(1), threads(4)
local tensor = torch.FloatTensor(1000, 1000)
local none = threads(1)
local one, four, large, byName, c = frame.alternate(9, function() trips(pool, 3) end,
   function() trips(several, 3) end, function() trips(pool, 3, tensor) end,
   function()
      for _ = 1, N do
         none.pool_:receive(none.pool_:send(1, math.abs, -3))
      end
   end, function() peer.round_trips(N) end)

local many = threads(64)
dptffi.C.dpt_sleep(0.1)
local used = dptffi.ffi.new 'double[4]'
dptffi.C.dpt_cpu_time(used, used + 1)
dptffi.C.dpt_sleep(1)
dptffi.C.dpt_cpu_time(used + 2, used + 3)
local idle = used[2] + used[3] - used[0] - used[1]
for _, p in ipairs{pool, several, none, many} do p:terminate() end

frame.head(('round trips of a job, %d at a time, median of 9 rounds'):format(N))
local rows = {{'', 'us', 'of the peer', 'target'}}
for _, row in ipairs{{'condition variables in C', c}, {'addjob and synchronize', one, TARGET},
   {'the same, 4 workers', four}, {'with a tensor of 4 MB', large},
   {'a call by name (dpt.threads.pool)', byName}} do
   local us = row[2] / N * 1e6
   rows[#rows + 1] = {row[1], ('%.1f'):format(us), ('%.2f'):format(row[2] / c), row[3] or ''}
end
frame.rows(rows)
print(('64 idle workers use %.2f %% of a core\n'):format(100 * idle))
local us = one / N * 1e6
frame.finish{{'threads', ('%.1f us for a round trip'):format(us), TARGET .. ' us', us < TARGET}}
