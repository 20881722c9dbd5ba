--- bench gemm: products of matrices against PyTorch on the CPU, and the kernels that dpt chooses
--
-- Invariant: both sides take turns, with the same number of threads and repetitions; the medians
-- over the rounds are used. A turn begins after the other side's threads have stopped spinning,
-- with an untimed product that wakes its own threads. The kernels are measured by separate
-- processes, in turn.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame, peer = require 'frame', require 'peer'
local dptffi = require 'dpt.ffi'
local C, ffi = dptffi.C, dptffi.ffi
torch.setdefaulttensortype 'torch.FloatTensor'

-- Prints the least CPU seconds of a 768 x 768 product of doubles with this process's kernels.
if arg[1] == '--768' then
   torch.setnumthreads(1)
   local a, c, best = torch.randn(768, 768):double(), torch.DoubleTensor(768, 768), math.huge
   local user, system = ffi.new 'double[1]', ffi.new 'double[1]'
   local function spent()
      C.dpt_cpu_time(user, system)
      return user[0] + system[0]
   end
   for _ = 1, 9 do
      local from = spent()
      c:mm(a, a)
      best = math.min(best, spent() - from)
   end
   print(best)
   os.exit(0, true)
end

local ROUNDS = tonumber(arg[1]) or 15

--- Products of m x k and k x n matrices; ta, tb: 1 if the operand is a transposed view.
local shapes = {}
local function shape(name, m, n, k, ta, tb)
   shapes[#shapes + 1] = {name = name, m = m, n = n, k = k, ta = ta or 0, tb = tb or 0}
end
for _, n in ipairs{512, 1024, 2048} do shape(tostring(n), n, n, n) end
--- Returns the three products of a layer with I inputs and O outputs for B rows.
local function layer(name, B, I, O)
   shape(name .. ' forward', B, O, I, 0, 1)
   shape(name .. ' input', B, I, O)
   shape(name .. ' weight', O, I, B, 1)
end
layer('compare 100-400, 250 rows', 250, 100, 400)
layer('compare 400-400, 250 rows', 250, 400, 400)
layer('compare 400-10, 250 rows', 250, 400, 10)
layer('digits 256-128, 40 rows', 40, 256, 128)
layer('digits 128-10, 40 rows', 40, 128, 10)
layer('char_lm 128-64, 800 rows', 800, 128, 64)
layer('char_lm LSTM 128-512, 16 rows', 16, 128, 512)

local script = [[
import sys, time, torch
torch.set_num_threads(int(sys.argv[1]))
torch.set_grad_enabled(False)
print(torch.__version__, flush=True)
made = {}
for line in sys.stdin:
    key = m, n, k, ta, tb, repetitions = tuple(map(int, line.split()))
    if key not in made:
        a = torch.randn(k, m).t() if ta else torch.randn(m, k)
        b = torch.randn(n, k).t() if tb else torch.randn(k, n)
        made[key] = (a, b, torch.empty(m, n))
        torch.mm(a, b, out=made[key][2])
    a, b, c = made[key]
    time.sleep(0.02)
    torch.mm(a, b, out=c)
    begin = time.perf_counter()
    for i in range(repetitions):
        torch.mm(a, b, out=c)
    print(time.perf_counter() - begin, flush=True)
]]

--- Returns the median seconds of one product, for dpt and the peer.
local function compare(s, other)
   local a = s.ta == 1 and torch.randn(s.k, s.m):t() or torch.randn(s.m, s.k)
   local b = s.tb == 1 and torch.randn(s.n, s.k):t() or torch.randn(s.k, s.n)
   local c = torch.Tensor(s.m, s.n)
   local repetitions = math.ceil(1e8 / (2 * s.m * s.n * s.k)) -- about a millisecond
   local line = ('%d %d %d %d %d %d'):format(s.m, s.n, s.k, s.ta, s.tb, repetitions)
   local function repeated()
      for _ = 1, repetitions do c:mm(a, b) end
   end
   local function ours()
      C.dpt_sleep(0.02)
      c:mm(a, b)
      return frame.time(repeated)
   end
   local mine, theirs = {}, {}
   for round = 1, ROUNDS do mine[round], theirs[round] = ours(), other(line) end
   return frame.median(mine) / repetitions, frame.median(theirs) / repetitions
end

local interpreter = peer.python('gemm', 'at least 0.95 of PyTorch')
local rows, results, version = {{'product', 'threads', 'dpt us', 'PyTorch us', 'ratio'}}, {}, nil
for threads = 1, 2 do
   torch.setnumthreads(threads)
   local other
   other, version = peer.start(interpreter, script, threads)
   for _, s in ipairs(shapes) do
      local mine, theirs = compare(s, other)
      local ratio = theirs / mine
      rows[#rows + 1] = {s.name, threads, ('%.1f'):format(mine * 1e6),
         ('%.1f'):format(theirs * 1e6), ('%.2f'):format(ratio)}
      results[#results + 1] = {('gemm, %s, threads %d'):format(s.name, threads),
         ('%.2f times as fast as PyTorch'):format(ratio), 'at least 0.95', ratio >= 0.95}
   end
end

--- Measures the kernels of OpenBLAS that this CPU can run, and dpt's choice.
local speed, peak, isa = ffi.new 'double[1]', ffi.new 'double[1]', ffi.new 'const char *[1]'
dptffi.lib.blas_speed(speed, peak, isa)
isa = ffi.string(isa[0])
local sets = {'', 'Prescott'}
if isa ~= 'SSE2' then sets[3], sets[4] = 'Haswell', 'Zen' end
if isa == 'AVX-512' then sets[5] = 'SkylakeX' end
local launcher = arg[0]:gsub('bench%.d/[^/]*$', 'dpt')
local best = {}
for _ = 1, 5 do
   for i, set in ipairs(sets) do
      local variable = set == '' and '-u OPENBLAS_CORETYPE' or 'OPENBLAS_CORETYPE=' .. set
      local pipe = io.popen(("env %s '%s' '%s' --768"):format(variable, launcher, arg[0]))
      best[i] = math.min(best[i] or math.huge, tonumber((pipe:read '*a')))
      pipe:close()
   end
end
rows[#rows + 1] = {'768, doubles, kernels:'}
for i, set in ipairs(sets) do
   rows[#rows + 1] = {'   ' .. (set == '' and "dpt's choice" or set), 1,
      ('%.1f'):format(best[i] * 1e6)}
end
local ratio = math.min(unpack(best, 2)) / best[1]
results[#results + 1] = {'gemm, 768 without a variable', ('%.2f of the best kernels'):format(ratio),
   'at least 0.90', ratio >= 0.9}

frame.head(('products of floats; medians of %d rounds'):format(ROUNDS), 'PyTorch ' .. version,
   ffi.string(C.dpt_libraries()):match '^[^\n]*')
frame.rows(rows)
frame.finish(results)
