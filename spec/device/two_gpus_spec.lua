-- One GPU presented as two (spec/cuda/two_gpus.cpp), on the emulation's runtime.
local run = require 'spec.support.run'

local library = (os.getenv 'DPT_LIBRARY' or 'build/libdpt.so'):gsub('[^/]*$', '')
   .. 'libtwo_gpus.so'

-- Makes wrong calls after dpt has used both devices.
local planted = [[
   local ffi = require 'ffi'
   local C = ffi.C
   ffi.cdef [=[
      int two_gpus_rejections(void); int two_gpus_has_context(int device);
      int cudaSetDevice(int); int cudaGetDevice(int *); int cudaGetLastError(void);
      int cudaStreamCreateWithPriority(void **, unsigned, int);
      int cudaEventCreateWithFlags(void **, unsigned); int cudaEventRecord(void *, void *);
      int cudaEventElapsedTime(float *, void *, void *);
      int cudaMalloc(void **, size_t); int cudaFree(void *);
      int cudaHostAlloc(void **, size_t, unsigned); int cudaFreeHost(void *);
      int cudaMemsetAsync(void *, int, size_t, void *);
      int cudaDeviceEnablePeerAccess(int, unsigned); int cudaDeviceDisablePeerAccess(int);
      int emulated_accept(void *, const void *);
   ]=]
   dofile 'spec/support/delays.lua'
   print('rejected', C.two_gpus_rejections(), C.two_gpus_has_context(0), C.two_gpus_has_context(1))
   local stream, event, memory, host = {}, {}, {}, ffi.new 'void *[1]'
   for device = 0, 1 do
      C.cudaSetDevice(device)
      local s, e, m = ffi.new 'void *[1]', ffi.new 'void *[1]', ffi.new 'void *[1]'
      assert(C.cudaStreamCreateWithPriority(s, 1, 0) == 0 and C.cudaEventCreateWithFlags(e, 0) == 0)
      assert(C.cudaMalloc(m, 100) == 0)
      stream[device], event[device], memory[device] = s[0], e[0], m[0]
   end
   C.cudaHostAlloc(host, 100, 0)
   C.cudaDeviceDisablePeerAccess(0) -- device 1 is the thread's
   C.cudaGetLastError()
   local list = {
      {'no device', C.cudaSetDevice, 2},
      {'event', C.cudaEventRecord, event[0], stream[1]},
      {'time', C.cudaEventElapsedTime, ffi.new 'float[1]', event[0], event[1]},
      {'launch', C.emulated_accept, stream[0], host},
      {'memset', C.cudaMemsetAsync, memory[0], 0, 100, stream[1]},
      {'free', C.cudaFree, host[0]}, {'free', C.cudaFreeHost, memory[0]},
      {'inside', C.cudaFree, ffi.cast('char *', memory[0]) + 8},
   }
   for _, case in ipairs(list) do
      local f = case[2]
      print(case[1], f(unpack(case, 3)), C.cudaGetLastError(), C.cudaGetLastError())
   end
   C.cudaDeviceEnablePeerAccess(0, 0)
   print('now', C.cudaMemsetAsync(memory[0], 0, 100, stream[1]),
      C.cudaEventRecord(event[1], stream[1]), C.cudaFree(memory[0]), C.cudaFreeHost(host[0]),
      C.two_gpus_rejections())
]]

describe('One GPU presented as two #hostonly #noasan', function()
   it('behaves like two GPUs, including their errors', function()
      local two = run.lua("dofile 'spec/support/delays.lua'", {DPT_DEVICES = 'emulated:2'})
      local text = run.lua(planted, {DPT_DEVICES = 'emulated:2', LD_PRELOAD = library})
      local lines
      text, lines = text:gsub('two_gpus: [^\n]*\n', '')
      assert.equal(8, lines)
      assert.equal(two, text:match '^(.-)rejected')
      local wanted = {'rejected\t0\t1\t1', 'no device\t101\t101\t0', 'event\t400\t400\t0',
         'time\t400\t400\t0', 'launch\t400\t400\t0', 'memset\t1\t1\t0', 'free\t1\t1\t0',
         'free\t1\t1\t0', 'inside\t1\t1\t0', 'now\t0\t0\t0\t0\t8', ''}
      assert.equal(table.concat(wanted, '\n'), text:match 'rejected.*')
   end)

   it('has a context only on the one that is used', function()
      local used = [[
         local ffi = require 'ffi'
         ffi.cdef 'int two_gpus_has_context(int device);'
         require 'dpt'
         print(torch.CudaTensor(3):fill(2):sum())
         print(ffi.C.two_gpus_has_context(0), ffi.C.two_gpus_has_context(1))
      ]]
      local environment = {DPT_DEVICES = 'emulated:1,1', LD_PRELOAD = library}
      for _, asynchronous in ipairs{'0', '1'} do
         environment.DPT_EMULATED_ASYNC = asynchronous
         assert.equal('6\n0\t1\n', run.lua(used, environment))
      end
   end)
end)
