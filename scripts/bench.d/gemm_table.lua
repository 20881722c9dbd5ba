--- bench gemm_table: which products of floats oneDNN computes faster than the BLAS, for gemm.def
--
-- Invariant: both libraries are called directly, with one thread, in turn; a cell is the geometric
-- mean over the four forms (transposed or not) of the medians' ratio. It ends with the row of
-- csrc/host/gemm.def that this machine's instruction set would get: the class of shapes of which
-- oneDNN saves most, if it loses more than a tenth in less than a tenth of it.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local dptffi = require 'dpt.ffi'
local C, ffi = dptffi.C, dptffi.ffi
local ROUNDS = tonumber(arg[1]) or 7

-- libdpt is linked to oneDNN and OpenMP, and opens the BLAS for the first product.
ffi.cdef [[
int dnnl_sgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
   int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void omp_set_num_threads(int n);
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
   int lda, const float *b, int ldb, float beta, float *c, int ldc);
]]
C.omp_set_num_threads(1)
torch.mm(torch.eye(2), torch.eye(2))
local text = ffi.string(C.dpt_libraries()):match '^[^\n]*'
local blas = ffi.load(text:match '/%S+%.so[%.%d]*')
local speed, peak, name = ffi.new 'double[1]', ffi.new 'double[1]', ffi.new 'const char *[1]'
dptffi.lib.blas_speed(speed, peak, name)
local isa = ffi.string(name[0]):gsub('-', '')

local M, N, K = {4, 8, 16, 32, 64, 128, 256}, {8, 16, 32, 64, 128, 256, 512},
   {8, 16, 32, 64, 128, 256, 512}
local largest = 512 * 512
local a, b, c = ffi.new('float[?]', largest), ffi.new('float[?]', largest),
   ffi.new('float[?]', largest)
for i = 0, largest - 1 do a[i], b[i] = i % 7 - 3, i % 5 - 2 end

--- The BLAS's time divided by oneDNN's.
local function ratio(m, n, k)
   local repetitions, sum = math.ceil(1e7 / (2 * m * n * k)), 0
   for form = 0, 3 do
      local ta, tb = form % 2 == 1, form >= 2
      local lda, ldb = ta and m or k, tb and k or n
      local byBlas, byOnednn = frame.alternate(ROUNDS, function()
         for _ = 1, repetitions do
            blas.cblas_sgemm(101, ta and 112 or 111, tb and 112 or 111, m, n, k, 1, a, lda, b, ldb,
               0, c, n)
         end
      end, function()
         local x, y = (ta and 'T' or 'N'):byte(), (tb and 'T' or 'N'):byte()
         for _ = 1, repetitions do
            C.dnnl_sgemm(x, y, m, n, k, 1, a, lda, b, ldb, 0, c, n)
         end
      end)
      sum = sum + math.log(byBlas / byOnednn)
   end
   return math.exp(sum / 4)
end

frame.head(('time of the BLAS / time of oneDNN, floats, one thread; medians of %d rounds')
   :format(ROUNDS), text)
local cells = {}
for _, k in ipairs(K) do
   local rows = {{('k = %d'):format(k)}}
   for _, n in ipairs(N) do table.insert(rows[1], 'n = ' .. n) end
   for _, m in ipairs(M) do
      local row = {'m = ' .. m}
      for _, n in ipairs(N) do
         local cell = {m = m, n = n, k = k, ratio = ratio(m, n, k)}
         cells[#cells + 1] = cell
         row[#row + 1] = ('%.2f'):format(cell.ratio)
      end
      rows[#rows + 1] = row
   end
   frame.rows(rows)
end

local best = {gain = 0}
for _, m in ipairs(M) do
   for _, n in ipairs(N) do
      for _, k in ipairs(K) do
         local gain, count, losses = 0, 0, 0
         for _, cell in ipairs(cells) do
            if cell.m >= m and cell.n >= n and cell.k >= k then
               gain, count = gain + math.log(cell.ratio), count + 1
               if cell.ratio < 0.9 then losses = losses + 1 end
            end
         end
         if losses < count / 10 and gain > best.gain then
            best = {gain = gain, count = count, m = m, n = n, k = k}
         end
      end
   end
end
if best.m then
   print(('DPT_ONEDNN(%s, %d, %d, %d): %.2f times as fast, geometric mean of %d shapes'):format(isa,
      best.m, best.n, best.k, math.exp(best.gain / best.count), best.count))
else
   print(isa .. ': no row')
end
