--- Names of cutorch that do nothing here or do not exist: getState, handles, events ...
local cutorch, torch = require('dpt').cutorch, require('dpt').torch
local asleep = require 'spec.support.asleep'
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib

describe("cutorch's other names", function()
   after_each(function()
      cutorch.synchronizeAll()
      cutorch.setDevice(1)
      cutorch.setDefaultStream()
   end)

   it('all exist', function()
      local names = [[
         synchronize synchronizeAll reserveBlasHandles getNumBlasHandles setBlasHandle getBlasHandle
         reserveStreams getNumStreams setStream getStream setDefaultStream streamWaitFor
         streamWaitForMultiDevice streamBarrier streamBarrierMultiDevice streamSynchronize getDevice
         deviceReset getDeviceCount getPeerToPeerAccess setPeerToPeerAccess
         setKernelPeerToPeerAccess getKernelPeerToPeerAccess
         getDeviceProperties getRuntimeVersion getDriverVersion
         getMemoryUsage emptyCache setDevice seed seedAll initialSeed manualSeed manualSeedAll
         getRNGState setRNGState getState setHeapTracking isManagedPtr isManaged withDevice
         isCachingAllocatorEnabled hasHalfInstructions hasFastHalfInstructions
         createCudaHostTensor createCudaHostFloatTensor createCudaHostDoubleTensor
         createCudaHostIntTensor createCudaHostLongTensor createCudaHostByteTensor
         createCudaHostHalfTensor createFloatUVATensor createCudaUVATensor test setTF32 getTF32
      ]]
      for name in names:gmatch('%w+') do assert.is_function(cutorch[name], name) end
   end)

   it('have TF32 off, and products follow its switch within its rounding', function()
      assert.is_false(cutorch.getTF32())
      finally(function() cutorch.setTF32(false) end)
      local a, b = torch.rand(40, 50), torch.rand(50, 30)
      local wanted = torch.mm(a, b)
      for _, on in ipairs{true, false} do
         cutorch.setTF32(on)
         assert.equal(on, cutorch.getTF32())
         local got = torch.mm(a:cuda(), b:cuda()):double()
         local difference = (got - wanted):abs():max() / wanted:max()
         assert.is_true(difference < (on and 2e-3 or 2e-6), difference)
      end
   end)

   it('keep the number of a BLAS handle, and reject one that was not reserved', function()
      assert.equal(1, cutorch.getBlasHandle())
      cutorch.reserveBlasHandles(3)
      assert.equal(3, cutorch.getNumBlasHandles())
      cutorch.setBlasHandle(3)
      assert.equal(3, cutorch.getBlasHandle())
      assert.error_matches(function() cutorch.setBlasHandle(4) end, 'reserveBlasHandles%(4%)')
      assert.error_matches(function() cutorch.setBlasHandle(0) end, 'no handle 0')
      cutorch.setBlasHandle(1)
   end)

   it('do nothing if there is no work', function()
      cutorch.setHeapTracking(true)
      cutorch.deviceReset()
      assert.equal(cutorch._state, cutorch.getState())
      assert.is_false(cutorch.isManaged(torch.FloatTensor(1)))
   end)

   it('name an alternative if dpt lacks the feature', function()
      assert.error_matches(function() cutorch.createCudaUVATensor(3) end,
         'cutorch.createCudaUVATensor: dpt has no managed memory: use createCudaHostTensor')
      assert.error_matches(function() cutorch.test() end, "cutorch.test: Torch7's own tests")
   end)

   it('keep a stream busy for cycles of 1 GHz', function()
      local done, cycles = ffi.new 'int[1]', 2e7
      repeat -- longer if the machine was too slow to observe the sleep
         cutorch.synchronize()
         cycles = cycles * 2
         cutorch._sleep(cycles)
         lib.event_query(cutorch.Event().event, done)
      until done[0] == 0 or cycles > 2e10
      assert.equal(0, done[0])
      assert.has_error(function() cutorch._sleep 'x' end,
         '_sleep: got x, wanted a number of cycles')
   end)

   it('make a stream wait for an event', function()
      cutorch.reserveStreams(2, true)
      cutorch.setStream(1)
      local x = torch.CudaTensor(1)
      asleep({1}, function(awake)
         x:fill(1)
         local event = cutorch.Event()
         assert.equal('cutorch.Event', torch.type(event))
         cutorch.setStream(2)
         event:waitOn()
         x:add(1)
         local good = not awake() -- only the stream waited
         cutorch.streamSynchronize(2)
         assert.is_true(awake())
         cutorch.setStream(1)
         return good
      end)
      cutorch.setDefaultStream()
      assert.equal(2, x:sum())
   end)

   it('have every property of CUDA, 0 if a host device lacks it', function()
      local properties = cutorch.getDeviceProperties(1)
      for name in ([[canMapHostMemory clockRate computeMode deviceOverlap integrated freeGlobalMem
         kernelExecTimeoutEnabled major maxTexture1D maxTexture1DLinear maxThreadsPerBlock memPitch
         minor multiProcessorCount pciBusID pciDeviceID pciDomainID regsPerBlock sharedMemPerBlock
         textureAlignment totalConstMem totalGlobalMem warpSize]]):gmatch('%w+') do
         assert.is_number(properties[name], name)
      end
   end)
end)
