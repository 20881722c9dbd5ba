--- bench pointwise: pointwise operations on 10 million floats as a share of memcpy's bandwidth
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'

local n, side = 10000000, 3162 -- side * side is slightly less than n
local threads = torch.getnumthreads()
local plain = frame.c([[
#include <string.h>
#include <math.h>
#define PARALLEL _Pragma("omp parallel for schedule(static) num_threads(threads)")
void plain_move(float *r, const float *a, long n, int threads) {
  PARALLEL for (int t = 0; t < threads; t++) {
    long from = n * t / threads, to = n * (t + 1) / threads;
    memcpy(r + from, a + from, (to - from) * sizeof *r);
  }
}
void plain_copy(float *r, const float *a, long n, int threads) {
  PARALLEL for (long i = 0; i < n; i++) r[i] = a[i];
}
void plain_add(float *r, const float *a, const float *b, float v, long n, int threads) {
  PARALLEL for (long i = 0; i < n; i++) r[i] = a[i] + v * b[i];
}
void plain_mul(float *r, const float *a, float v, long n, int threads) {
  PARALLEL for (long i = 0; i < n; i++) r[i] = a[i] * v;
}
]], [[
void plain_move(float *r, const float *a, long n, int threads);
void plain_copy(float *r, const float *a, long n, int threads);
void plain_add(float *r, const float *a, const float *b, float v, long n, int threads);
void plain_mul(float *r, const float *a, float v, long n, int threads);
]])

local function tensor() return torch.FloatTensor(n):uniform(-1, 1) end
local r, a, b = tensor(), tensor(), tensor()
local R, A, B = r:data(), a:data(), b:data()
local function transposed(t) return t:narrow(1, 1, side * side):view(side, side):t() end
local rt, at, bt = transposed(r), transposed(a), transposed(b)
local flat = r:narrow(1, 1, side * side):view(side, side)

--- name, floats moved per element, dpt, dpt on transposed operands, a plain C loop
local operations = {
   {'copy', 2, function() r:copy(a) end, function() flat:copy(at) end,
      function() plain.plain_copy(R, A, n, threads) end},
   {'add', 3, function() torch.add(r, a, 2, b) end, function() torch.add(flat, at, 2, bt) end,
      function() plain.plain_add(R, A, B, 2, n, threads) end},
   {'mul', 2, function() torch.mul(r, a, 2) end, function() torch.mul(flat, at, 2) end,
      function() plain.plain_mul(R, A, 2, n, threads) end},
   {'sum', 1, function() return a:sum() end, function() return at:sum() end},
   {'exp', 2, function() torch.exp(r, a) end, function() torch.exp(flat, at) end},
   {'tanh', 2, function() torch.tanh(r, a) end, function() torch.tanh(flat, at) end},
}

local function move() plain.plain_move(R, A, n, threads) end
local rows = {{'', 'contiguous', 'of memcpy', 'of plain C', 'transposed', 'of memcpy'}}
local shares = {}
assert(rt:nElement() == side * side)
for _, operation in ipairs(operations) do
   local name, floats, dpt, across, c = unpack(operation)
   local ours, other, memcpy, loop = frame.alternate(9, dpt, across, move, c or move)
   local rate = floats * 4 * n / ours
   local rateAcross = floats * 4 * side * side / other
   local peak = 2 * 4 * n / memcpy
   rows[#rows + 1] = {name, ('%.1f GB/s'):format(rate / 1e9), ('%.0f %%'):format(100 * rate / peak),
      c and ('%.0f %%'):format(100 * loop / ours) or '', ('%.1f GB/s'):format(rateAcross / 1e9),
      ('%.0f %%'):format(100 * rateAcross / peak)}
   if c then shares[name] = loop / ours end
end

frame.head(('10 million floats on %d threads, median of 9 alternating rounds'):format(threads),
   'plain C: ' .. frame.gcc() .. ', -O3 -march=native -fopenmp')
frame.rows(rows)
local least = math.min(shares.add, shares.copy)
frame.finish{{'pointwise', ('add %.0f %%, copy %.0f %% of a plain C loop'):format(100 * shares.add,
   100 * shares.copy), 'at least 90 %', least >= 0.9}}
