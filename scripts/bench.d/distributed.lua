--- bench distributed: allReduce of two ranks against MPI_Allreduce in C and gloo of PyTorch
--
-- Runs itself as two ranks. In those, dpt and C take turns on the same communicator; gloo runs in
-- two separate processes, before and after. DPT_PEER_PYTHON names a Python with PyTorch.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local SIZES = {{'4 KB', 1024, 200}, {'1 MB', 2^18, 20}, {'16 MB', 2^22, 3}, {'64 MB', 2^24, 1}}
local ROUNDS = 21

-- ---- a rank ----

local function rank(peer)
   local dptffi = require 'dpt.ffi'
   local ffi, distributed = dptffi.ffi, require 'dpt.distributed'
   local me = distributed.rank()
   ffi.cdef [[
      void bench_allreduce(float *data, int count, int times);
      double bench_cpu(void);
   ]]
   local c = ffi.load(peer)
   for _, size in ipairs(SIZES) do
      local _, count, times = unpack(size)
      local t = torch.FloatTensor(count):zero()
      local data = t:data()
      local own, its = frame.alternate(ROUNDS, function()
         for _ = 1, times do distributed.allReduce(t) end
      end, function() c.bench_allreduce(data, count, times) end)
      if me == 0 then print(own / times, its / times) end
   end
   -- the cost of watching while nothing happens, and of recording an operation
   local before = c.bench_cpu()
   dptffi.C.dpt_sleep(3)
   local watch = (c.bench_cpu() - before) / 3
   local groups, t = {distributed.group{0}, distributed.group{1}}, torch.FloatTensor(1)
   local record = frame.alternate(ROUNDS, function()
      for _ = 1, 1000 do distributed.allReduce(t, 'sum', groups[me + 1]) end
   end) / 1000
   if me == 0 then print(watch, record) end
end

local C = [[
#include <mpi.h>
#include <time.h>
void bench_allreduce(float *data, int count, int times) {
  for (int i = 0; i < times; i++)
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
double bench_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
]]

-- ---- the parent ----

local here = arg[0]:match '^(.*/)' or './'

-- Returns the seconds for each size; nil if PyTorch is not installed.
local function gloo()
   local python = os.getenv 'DPT_PEER_PYTHON' or '/usr/bin/python3'
   local found = frame.lines(("'%s' %sdistributed_peer.py 2>/dev/null"):format(python, here))
   if #found ~= #SIZES + 1 then return nil end
   local seconds = {}
   for i = 1, #SIZES do seconds[i] = tonumber(found[i + 1]) end
   return seconds, found[1]
end

local function main()
   local name = os.tmpname()
   local file = assert(io.open(name .. '.c', 'w'))
   file:write(C)
   file:close()
   assert(frame.succeeds(("mpicc -O3 -shared -fPIC -o '%s.so' '%s.c'"):format(name, name)),
      'mpicc failed: scripts/setup installs it')
   local first, version = gloo()
   local found = frame.lines(("%s../dpt launch -n 2 %s %s.so"):format(here, arg[0], name))
   local second = first and gloo()
   for _, suffix in ipairs{'', '.c', '.so'} do os.remove(name .. suffix) end
   assert(#found == #SIZES + 1, 'the ranks failed')
   frame.head('allReduce of floats in place, two ranks of this machine', version
      or 'there is no PyTorch: no ratios to gloo')
   local rows, results = {{'', 'dpt, ms', 'MPI in C, ms', 'ratio', 'gloo, ms', 'times'}}, {}
   for i, size in ipairs(SIZES) do
      local own, its = found[i]:match '(%S+)%s+(%S+)'
      own, its = tonumber(own), tonumber(its)
      local peer = first and math.min(first[i], second[i])
      rows[#rows + 1] = {size[1], ('%.4f'):format(own * 1e3), ('%.4f'):format(its * 1e3),
         ('%.2f'):format(its / own), peer and ('%.3f'):format(peer * 1e3) or '-',
         peer and ('%.1f'):format(peer / own) or '-'}
      local function add(what, value, target, ok)
         results[#results + 1] = {size[1] .. ' ' .. what, value, target, ok}
      end
      if i == 1 then
         add('beyond MPI in C', ('%.1f us'):format((own - its) * 1e6), '15 us', own - its <= 15e-6)
      else
         local least = i == 2 and 0.8 or 0.9
         add('of MPI in C', ('%.2f'):format(its / own), least, its / own >= least)
      end
      if peer then add('times gloo', ('%.1f'):format(peer / own), 3, peer / own >= 3) end
   end
   frame.rows(rows)
   local watch, record = found[#found]:match '(%S+)%s+(%S+)'
   results[#results + 1] = {'watchdog, of a core', ('%.2f %%'):format(watch * 100), '1 %',
      tonumber(watch) < 0.01}
   results[#results + 1] = {'an operation that moves nothing', ('%.1f us'):format(record * 1e6),
      '10 us: 1 % of a step of 10 ms with 10 operations', tonumber(record) < 1e-5}
   frame.finish(results)
end

if arg[1] then rank(arg[1]) else main() end
