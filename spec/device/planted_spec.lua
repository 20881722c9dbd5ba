-- Faults that spec/emulation/planted.cpp plants in the plugin, and the spec that detects each on
-- asynchronous emulated devices: a missing wait, memory reused too early, a wrong context or
-- address. Each spec passes if nothing is planted. Runs only if DPT_EMULATED_ASYNC is 1.
local run = require 'spec.support.run'
local standIn = require 'spec.support.stand_in'

local ASYNC = {DPT_EMULATED_ASYNC = '1', DPT_EMULATED_DELAY = '300', DPT_SEED = '1'}

local function with(more)
   local environment = {}
   for _, variables in ipairs{ASYNC, more} do
      for name, value in pairs(variables) do environment[name] = value end
   end
   return environment
end

-- Returns the counts that busted prints after a spec, or 'nothing' if it did not get that far.
local function ending(spec, environment)
   return run.lua(([[
      local pipe = io.popen "timeout 300 busted -o plainTerminal %s 2>&1"
      print(pipe:read('*a'):match '%%d+ successes / [^:]*' or 'nothing')
   ]]):format(spec), with(environment))
end

local SPECS = {
   wait = 'spec/comm/coalesce_spec.lua',
   read = 'spec/comm/coalesce_spec.lua',
   context = 'spec/device/queues_spec.lua'
}

-- A kernel with an operand of another device; the copy has enabled peer access if it can.
local ACROSS = [[
   local dpt = require 'dpt'
   local cutorch, torch = dpt.cutorch, dpt.torch
   cutorch.setKernelPeerToPeerAccess(true)
   local a, b = torch.CudaTensor(1000):fill(1)
   cutorch.withDevice(2, function() b = torch.CudaTensor(1000):fill(2) end)
   if separate then
      local ffi = require 'ffi'
      ffi.cdef 'void emulated_separate(int);'
      ffi.load(io.open('/proc/self/maps'):read('*a'):match '/%S*libdpt_emulated%S*')
         .emulated_separate(1)
   end
   b:copy(b:clone():copy(a):mul(2))
   a:add(b)
   print(a:sum())
]]

-- A tensor used by another stream is collected before that stream reaches it, several times.
local REUSE = [[
   local dpt = require 'dpt'
   local cutorch, torch = dpt.cutorch, dpt.torch
   cutorch.reserveStreams(1, true)
   local slow, sum, wrong = torch.CudaTensor(400, 400):fill(1), torch.CudaTensor(1000), false
   for _ = 1, 5 do
      local kept = {torch.CudaTensor(1000):fill(1)}
      sum:zero()
      cutorch.streamWaitFor(1, {0})
      cutorch.setStream(1)
      for _ = 1, 20 do slow:exp() end
      sum:add(kept[1])
      cutorch.setStream(0)
      os.execute 'sleep 0.01' -- until that is in the device's queue
      kept[1] = nil
      collectgarbage()
      collectgarbage()
      for i = 1, 20 do kept[i] = torch.CudaTensor(1000):fill(2) end
      cutorch.setStream(1)
      wrong = wrong or sum:sum() ~= 1000
      cutorch.setStream(0)
      cutorch.streamWaitFor(0, {1})
   end
   print(wrong)
]]

-- Two communicators share device 2, on separate streams; device 1 delays the first one. Repeated,
-- because on a busy machine the first one can end before the second one starts.
local ORDER = [[
   assert(comm.setTransport 'nccl')
   local a, b = tensors(5), tensors(5)
   local slow = cutorch.withDevice(1, function() return torch.CudaTensor(400, 400):fill(1) end)
   cutorch.reserveStreams(1, true)
   for _ = 1, 20 do -- the first time they are joined
      cutorch.synchronizeAll()
      cutorch.withDevice(1, function()
         for _ = 1, 20 do slow:exp() end
      end)
      for i = 2, 3 do cutorch.withDevice(i, function() cutorch.setStream(0) end) end
      comm.allReduce{a[1], a[2]}
      for i = 2, 3 do cutorch.withDevice(i, function() cutorch.setStream(1) end) end
      comm.allReduce{b[2], b[3]}
   end
   cutorch.synchronizeAll()
   print(a[1]:sum() + a[2]:sum(), b[2]:sum() + b[3]:sum())
]]

-- The watchdog has one second to detect a hanging collective.
local HANGS = [[
   assert(comm.setTransport 'nccl')
   comm.allReduce(tensors(5)) -- the second group of collectives
   local from = os.time()
   while comm.transport() == 'nccl' and os.time() < from + 10 do os.execute 'sleep 0.1' end
   print(comm.transport())
   io.stdout:flush()
   require('ffi').cdef 'void _exit(int);'
   require('ffi').C._exit(0)
]]

local function order(fault)
   return standIn.run(ORDER, 3, '', with{DPT_EMULATED_FAULT = fault})
end

local function hangs(fault)
   return standIn.run(HANGS, 3, 'hang=2', with{DPT_TIMEOUT = '1', DPT_EMULATED_FAULT = fault})
end

local function reuses(fault)
   return run.lua(REUSE, with{DPT_DEVICES = 'emulated:1', DPT_EMULATED_FAULT = fault})
end

local description = os.getenv 'DPT_EMULATED_ASYNC' == '1' and describe or function() end

description('A planted fault #hostonly', function()
   it('is found by a spec, which passes without it', function()
      local sound = {}
      for fault, spec in pairs(SPECS) do
         local devices = {DPT_DEVICES = 'emulated:3', DPT_EMULATED_FAULT = ''}
         sound[spec] = sound[spec] or ending(spec, devices)
         assert.matches('^%d+ successes / 0 failures / 0 errors', sound[spec])
         devices.DPT_EMULATED_FAULT = fault
         assert.not_matches(' 0 failures / 0 errors', ending(spec, devices))
      end
   end)

   it('in the end of an event is memory that is used again early', function()
      assert.equal('false\n', reuses '')
      assert.equal('true\n', reuses 'reuse')
   end)

   it('in who reaches whose memory is an illegal address, with the name of the kernel', function()
      local devices = with{DPT_DEVICES = 'emulated:2', DPT_EMULATED_FAULT = ''}
      assert.equal('3000\n', run.lua('local separate = false\n' .. ACROSS, devices))
      devices.DPT_EMULATED_FAULT = 'peer'
      assert.matches('kernel %S+ of device 0 uses memory of device 1, which is no peer',
         run.lua('local separate = true\n' .. ACROSS, devices))
   end)

   it('in the order of communicators is found by the fake NCCL', function()
      assert.matches('\n15728640\t26214400\n$', order '')
      assert.matches('kernels of two communicators at once', order 'order')
   end)

   it('in the end of a collective hides that it hangs', function()
      assert.matches('\ncopy\n$', hangs '')
      assert.matches('\nnccl\n$', hangs 'collective')
   end)
end)
