-- The BLAS for matrix products: which file is opened, when, and the errors if none can be.
local run = require 'spec.support.run'

local build = (os.getenv 'DPT_LIBRARY' or './build/libdpt.so'):gsub('[^/]*$', '')

--- Returns the output of code that may use torch, a and b (2x2), l (a matrix of long integers) and
-- try(f), which prints f's error or result.
local function prints(code, environment)
   return run.lua([[
      local dpt = require 'dpt'
      local torch, cutorch = dpt.torch, dpt.cutorch
      local a, b = torch.FloatTensor{{1, 2}, {3, 4}}, torch.FloatTensor{{5, 6}, {7, 8}}
      local l = torch.LongTensor{{1, 2}, {3, 4}}
      local function try(f) print((select(2, pcall(f)))) end
   ]] .. code, environment)
end

describe('The BLAS', function()
   it('is not linked, and is opened by the first product', function()
      local text = prints [[
         local function open()
            local text = io.open '/proc/self/maps':read '*a'
            return text:find('openblas', 1, true) ~= nil
         end
         local before = open()
         torch.mm(l, l)
         dpt.setDeterministic(true)
         torch.mm(a, b)
         dpt.setDeterministic(false)
         local between = open()
         torch.mm(a, b)
         print(before, between, open())]]
      assert.equal('false\tfalse\ttrue\n', text)
   end)

   it('that is missing is an error of the line that needs it first, also on devices', function()
      local text = prints([[
         local function line() return debug.getinfo(2, 'l').currentline end
         local d = a:cuda()
         try(function() print(line()) torch.mm(a, b) end)
         try(function() return torch.mm(d, d) end)
         try(function() return torch.gesv(a, b) end)
         try(function() return dpt.nn.Linear(2, 2):float():forward(a) end)
         try(function() return torch.mm(l, l)[2][2] end)
         cutorch.synchronize()
         print 'end']], {DPT_BLAS = '/nonexistent/blas.so', DPT_DEVICES = 'host:1'})
      local line, first, second, third, fourth, integers =
         text:match '^(%d+)\n(.-)\n(.-)\n(.-)\n(.-)\n(.-)\nend\n$'
      local message = 'there is no BLAS (Debian: apt-get install libopenblas0-pthread; the variable'
         .. " DPT_BLAS may name another library's file): /nonexistent/blas.so: cannot open shared"
         .. ' object file: No such file or directory'
      assert.equal(':' .. line .. ': addmm: ' .. message, first:match ':%d+: .*$')
      assert.equal('addmm: ' .. message, second:match ':%d+: (.*)$')
      assert.equal('gesv: ' .. message, third:match ':%d+: (.*)$')
      assert.equal('linear: ' .. message, fourth:match ': (linear.*)$')
      assert.equal('22', integers)
   end)

   it('may be a file without LAPACK, which functions of LAPACK then name #hostonly', function()
      local file = build .. 'libblas_fake.so'
      local text = prints([[
         print(torch.mm(a, b)[2][2], torch.mv(a, b[1])[1], torch.mm(a:double(), b:double())[1][1])
         try(function() return torch.gesv(b, a) end)]], {DPT_BLAS = file})
      assert.equal('50\t17\t19', text:match '^(.-)\n')
      assert.matches('gesv: the BLAS %S*libblas_fake.so has no LAPACK %(no function [sd]%l+_%): '
         .. 'OpenBLAS and MKL have %(Debian: apt%-get install', text)
   end)

   it('may have other names for its functions #hostonly', function()
      assert.equal('50\n', prints('print(torch.mm(a, b)[2][2])',
         {DPT_BLAS = build .. 'libblas_fake_named.so'}))
   end)

   it('is rejected if it counts with 64-bit integers, or is none #hostonly', function()
      local function refusal(file)
         return prints('try(function() return torch.mm(a, b) end)', {DPT_BLAS = file})
      end
      assert.matches('addmm: there is no BLAS .*libblas_fake_wide.so: counts with 64%-bit integers,'
         .. ' wanted 32%-bit ones %(LP64%)\n$', refusal(build .. 'libblas_fake_wide.so'))
      assert.matches('libm.so.6: has no function cblas_sgemm\n$', refusal 'libm.so.6')
   end)

   it('selects kernels that the CPU can run, unless they are named, and not in children', function()
      local code = [[
         local C, ffi = require('dpt.ffi').C, require('dpt.ffi').ffi
         torch.mm(a, b)
         print(ffi.string(C.dpt_libraries()):match '^OpenBLAS %S+ %a+ kernels %((.-)%)')
         print(os.getenv 'OPENBLAS_CORETYPE', os.getenv 'OPENBLAS_NUM_THREADS')
         io.stdout:flush()
         os.execute "env | grep -E '^OPENBLAS_(CORETYPE|NUM_THREADS)=' | sort"]]
      -- a user's own settings must not affect this spec
      local bare = [[
         for _, name in ipairs{'OPENBLAS_CORETYPE', 'OPENBLAS_NUM_THREADS'} do
            require('dpt.ffi').C.dpt_setenv(name, nil)
         end]]
      local why, seen = prints(bare .. code):match '^(.-)\n(.*)$'
      assert.is_true(why == 'for what the CPU can do' or why == "OpenBLAS's own choice", why)
      assert.equal('nil\tnil\n', seen)
      for _, isa in ipairs{'sse2', 'avx512'} do
         assert.equal('as OPENBLAS_CORETYPE says\nPrescott\t3\nOPENBLAS_CORETYPE=Prescott\n'
            .. 'OPENBLAS_NUM_THREADS=3\n', prints(code, {OPENBLAS_CORETYPE = 'Prescott',
            OPENBLAS_NUM_THREADS = '3', DPT_ISA = isa}))
      end
   end)
end)
