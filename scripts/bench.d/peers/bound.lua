--- Lower bounds on this machine's time for rows of `bench peers`.
--
-- Invariant: a bound is measured in the same run as its rows. A row has `flops` (of the products
-- and direct convolutions of a step, at the peak rate of multiply-adds in registers), `moves`
-- (bytes, by memcpy of as many bytes), `reads` (bytes, by a loop that sums them), `writes` (bytes
-- to a file, by write); the bound is the sum of their times.
local frame = require 'frame'
local dptffi = require 'dpt.ffi'
local ffi, C = dptffi.ffi, dptffi.C

local bound = {}
local loops = frame.c([[
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
void bound_move(char *to, const char *from, int64_t n, int threads) {
#pragma omp parallel num_threads(threads)
  {
    int64_t i = omp_get_thread_num(), part = n / threads;
    memcpy(to + i * part, from + i * part, part);
  }
}
uint64_t bound_read(const uint64_t *from, int64_t n, int threads) {
  uint64_t a = 0, b = 0, c = 0, d = 0;
  int64_t part = n / 32; /* four streams: memory brings them faster than one */
#pragma omp parallel for num_threads(threads) reduction(+ : a, b, c, d) schedule(static)
  for (int64_t i = 0; i < part; i++) {
    a += from[i];
    b += from[part + i];
    c += from[2 * part + i];
    d += from[3 * part + i];
  }
  return a + b + c + d;
}
void bound_write(const char *name, const char *from, int64_t n) {
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (int64_t done = 0, more = 1; file >= 0 && done < n && more > 0; done += more)
    more = write(file, from + done, n - done);
  close(file);
}]], [[
void bound_move(char *to, const char *from, int64_t n, int threads);
uint64_t bound_read(const uint64_t *from, int64_t n, int threads);
void bound_write(const char *name, const char *from, int64_t n);]])

local memory = {}
local function block(name, bytes)
   if not memory[name] or memory[name]:size() < bytes then
      memory[name] = torch.ByteStorage(bytes):fill(1)
   end
   return memory[name]:data()
end

-- Returns the least of several timings, since the bound must be the fastest.
local function fastest(rounds, step)
   step()
   local least = math.huge
   for _ = 1, rounds do least = math.min(least, frame.time(step)) end
   return least
end

local known = {}
local function once(key, measure)
   known[key] = known[key] or measure()
   return known[key]
end

local function move(bytes, threads)
   local to, from = block('to', bytes), block('from', bytes)
   return fastest(7, function()
      loops.bound_move(ffi.cast('char *', to), ffi.cast('char *', from), bytes, threads)
   end)
end

local measures = {
   -- memcpy moves twice its bytes: it reads and writes each.
   moves = function(bytes, threads) return move(bytes / 2, threads) end,
   reads = function(bytes, threads)
      local from = ffi.cast('uint64_t *', block('from', bytes))
      return fastest(7, function() loops.bound_read(from, bytes, threads) end)
   end,
   writes = function(bytes)
      local from = ffi.cast('char *', block('from', bytes))
      local name = os.getenv 'DPT_BENCH_FOLDER' .. '/bytes'
      local least = fastest(5, function() loops.bound_write(name, from, bytes) end)
      os.remove(name)
      return least
   end,
}

-- Returns the peak of one core, in operations per second.
local function peak()
   return once('peak', function()
      local product, best, set = ffi.new 'double[1]', ffi.new 'double[1]', ffi.new 'const char *[1]'
      assert(C.dpt_blas_speed(product, best, set) == 0)
      return best[0] * 1e9
   end)
end

--- Returns the lower bound of a row's step in seconds; nil if nothing is known.
function bound.seconds(row, threads)
   threads = row.cores or threads
   local least = row.flops and row.flops / (peak() * threads)
   for kind, measure in pairs(measures) do
      local bytes = row[kind]
      if bytes then
         least = (least or 0) + once(('%s %d %d'):format(kind, bytes, threads),
            function() return measure(bytes, threads) end)
      end
   end
   return least
end

--- Describes the measured speed of memcpy and of multiply-adds.
function bound.words()
   local words = {}
   for _, bytes in ipairs{40e6, 1e9} do
      words[#words + 1] = ('memcpy of %d MB: %.1f GB/s'):format(bytes / 1e6,
         bytes / move(bytes, 1) / 1e9)
   end
   memory = {}
   return ('%s, on one thread; multiply-adds in registers: %.0f Gflop/s a core'):format(
      table.concat(words, ', '), peak() / 1e9)
end

return bound
