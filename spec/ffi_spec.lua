-- dpt.ffi: wrappers, the line that errors report, and one load per Lua state.
local dptffi = require 'dpt.ffi'
local dpt = require 'dpt'
local torch = dpt.torch

--- Returns the line number in an error message that names this file.
local function lineOf(message) return tonumber(message:match('ffi_spec%.lua:(%d+):')) end

describe('dpt.ffi.lib', function()
   it("accepts scripts' declarations with Torch7's C types", function()
      local ffi = require 'ffi'
      ffi.cdef 'void ffi_spec_foreign(THFloatTensor *t, THCudaTensor *c, THCState *s);'
      assert.has_no.errors(function() ffi.cdef 'typedef struct THLongStorage THLongStorage;' end)
      assert.truthy(ffi.typeof 'THCudaDoubleTensor *')
   end)

   it('has one wrapper for each declared function that returns a status', function()
      assert.is_true(dptffi.has 'narrow')
      assert.is_false(dptffi.has 'message') -- returns a string
      assert.is_function(dptffi.lib.narrow)
      assert.equal(dptffi.lib.narrow, dptffi.lib.narrow)
      assert.error_matches(function() return dptffi.lib.noSuchFunction end, 'dpt_noSuchFunction')
   end)

   it("raises the library's message at the line of dpt's caller", function()
      local x = torch.FloatTensor(2, 3)
      local line = debug.getinfo(1, 'l').currentline + 1
      local ok, why = pcall(function() x:view(5) end)
      assert.is_false(ok)
      assert.equal(line, lineOf(why))
      assert.truthy(why:find('torch.FloatTensor of size 2x3', 1, true))
   end)

   it('blames the caller also if the method itself is called by pcall', function()
      local x = torch.FloatTensor(2, 3)
      local line = debug.getinfo(1, 'l').currentline + 1
      local ok, why = pcall(x.narrow, x, 3, 1, 1)
      assert.is_false(ok)
      assert.equal(line, lineOf(why))
   end)

   it('blames the caller in a coroutine', function()
      local line = debug.getinfo(1, 'l').currentline + 2
      local ok, why = coroutine.resume(coroutine.create(function()
         torch.FloatTensor(2, 3):narrow(3, 1, 1)
      end))
      assert.is_false(ok)
      assert.equal(line, lineOf(why))
   end)

   it('leaves the objects usable', function()
      local x = torch.FloatTensor(2, 3):fill(4)
      assert.is_false(pcall(x.view, x, 5))
      assert.equal(24, x:sum())
   end)
end)

describe('Loading dpt', function()
   --- Returns the output of a fresh process, including stderr.
   local function run(code, environment)
      local here = debug.getinfo(dptffi.raise, 'S').source:match('^@(.*)dpt/ffi%.lua$')
      if here:sub(1, 1) ~= '/' then here = os.getenv 'PWD' .. '/' .. here end
      local file = os.tmpname()
      local out = assert(io.open(file, 'w'))
      out:write(("package.path = '%s?.lua;%s?/init.lua;' .. package.path\n"):format(here, here))
      out:write(code)
      out:close()
      local pipe = io.popen(('%s luajit %s 2>&1'):format(environment or '', file))
      local text = pipe:read '*a'
      pipe:close()
      os.remove(file)
      return text
   end

   it('happens once for a Lua state', function()
      local text = run [[
         require 'dpt'
         for name in pairs(package.loaded) do
            if name:find '^dpt' then package.loaded[name] = nil end
         end
         print(pcall(require, 'dpt.ffi'))
      ]]
      assert.truthy(text:find('loaded already in this Lua state', 1, true), text)
   end)

   it('allows LuaJIT to keep the traces of a training script', function()
      assert.equal('0\n', run [[
         require 'dpt'
         local flushes = 0
         local function note(what) flushes = flushes + (what == 'flush' and 1 or 0) end
         jit.attach(note, 'trace')
         for k = 1, 1500 do
            loadstring(('local n = 0 for i = 1, 200 do n = n + %d end return n'):format(k))()
         end
         print(flushes)
      ]])
   end)

   it('rejects values that are not tensors, except for optional arguments', function()
      local lib, x = require('dpt.ffi').lib, torch.ones(2)
      for _, bad in ipairs{'text', 5, {}, false} do
         assert.has_error(function() lib.copy(x, bad) end,
            ("copy: argument 'a' is a %s, wanted a tensor"):format(type(bad)))
      end
      assert.has_error(function() lib.copy(x, dptffi.ffi.new 'void *') end,
         "copy: argument 'a' is nil, wanted a tensor")
      assert.has_error(function() lib.copy(nil, x) end,
         "copy: argument 'r' is nil, wanted a tensor")
      lib.linear_forward(torch.Tensor(), torch.ones(1, 2), torch.ones(3, 2), nil)
      assert.has_error(function() lib.linear_forward(torch.Tensor(), x, torch.ones(3, 2), 'b') end,
         "linear: argument 'bias' is a string, wanted a tensor")
      assert.has_error(function() lib.linear_forward(x, 3, x, nil) end,
         "linear: argument 'input' is a number, wanted a tensor")
      assert.has_error(function() lib.linear_backward_data(x, nil, x) end,
         "linear: argument 'gradOutput' is nil, wanted a tensor")
   end)

   it('names the library by DPT_LIBRARY', function()
      local text = run("require 'dpt'", 'DPT_LIBRARY=/no/such/libdpt.so')
      assert.truthy(text:find('/no/such/libdpt.so', 1, true), text)
   end)

   it("makes libgomp's threads spin briefly unless the environment sets another value", function()
      local code = "require 'dpt' print(os.getenv 'OMP_WAIT_POLICY', os.getenv 'GOMP_SPINCOUNT')"
      local text = run(code, 'OMP_DISPLAY_ENV=verbose')
      assert.truthy(text:find("GOMP_SPINCOUNT = '4000'", 1, true), text)
      assert.truthy(text:find('nil\tnil\n', 1, true), text)
      text = run(code, 'OMP_DISPLAY_ENV=verbose GOMP_SPINCOUNT=7')
      assert.truthy(text:find("GOMP_SPINCOUNT = '7'", 1, true), text)
      assert.truthy(text:find("OMP_WAIT_POLICY = 'PASSIVE'", 1, true), text)
      assert.truthy(text:find('nil\t7\n', 1, true), text)
   end)

   it("ends the script's OpenMP threads where a device computes with several", function()
      local cores = dptffi.C.dpt_cores() -- nproc obeys OMP_NUM_THREADS
      if cores == 1 then return pending 'there is one core' end
      local text = run([[
         require 'dpt'
         local function threads() return io.popen('ls /proc/$PPID/task | wc -l'):read '*n' end
         torch.setnumthreads(2)
         local before = threads()
         local x = torch.ones(1e6):add(1)
         local host = threads() - before
         x:cuda():add(1)
         cutorch.synchronize()
         local device = threads() - before
         x:add(1)
         print(host, device, threads() - before)
      ]], 'DPT_DEVICES=host:1')
      assert.equal(('1\t%d\t%d\n'):format(cores, cores + 1), text)
   end)

   it('works from any directory', function()
      assert.equal('6\n', run("require 'dpt' print(torch.ones(2, 3):sum())", 'cd / &&'))
   end)

   it('allows the process to exit while devices work', function()
      for _ = 1, 8 do
         local text = run([[
            require 'dpt'
            local x = torch.CudaTensor(400, 400):fill(0)
            for _ = 1, 20 do x = torch.mm(x, x) end
            print 'queued'
         ]], 'sh -c \'"$@"; echo $?\' -')
         assert.equal('queued\n0\n', text)
      end
   end)
end)
