-- Memory is never freed while NCCL launches a group on several devices.
local standIn = require 'spec.support.stand_in'

describe('NCCL that launches a group of collectives on several devices #hostonly', function()
   it('is waited for by cudaFree, cudaFreeHost and cudaHostAlloc', function()
      -- a group is enqueued after 60 polls, which takes a few milliseconds
      local text = standIn.run([[
         local ffi = require 'ffi'
         ffi.cdef 'long long emulated_frees_in_groups(void); long long emulated_allocations(void);'
         local maps = io.open('/proc/self/maps'):read '*a'
         local emulated = ffi.load(maps:match('/[^ \n]*libdpt_emulated%.so'))
         comm.setTransport 'nccl'
         local list = tensors(1000)
         local taken = emulated.emulated_allocations()
         for _ = 1, 5 do
            nccl.allReduce(list, nil, true)
            for i = 1, 20 do
               local t = torch.CudaTensor(i):fill(1)
               local host = cutorch.createCudaHostTensor(i)
               t, host = nil, nil
               collectgarbage()
            end
         end
         cutorch.synchronizeAll()
         print(emulated.emulated_allocations() - taken >= 200, list[2][7])
         print('at once', tonumber(emulated.emulated_frees_in_groups()))
      ]], 2, 'slow=60', {DPT_CACHE = 'off'})
      assert.equal('true\t48\nat once\t0\n', text:match('true\t.*'))
   end)

   it('is aborted in time if a call waits for a group that hangs', function()
      local text = standIn.run([[
         comm.setTransport 'nccl' -- its test is the first group
         cutorch.reserveStreams(1, true)
         local list = tensors(1000)
         nccl.allReduce(list, nil, true)
         for i = 1, n do cutorch.withDevice(i, cutorch.streamSleep, 200) end
         nccl.allReduce(list, nil, true)
         os.execute 'sleep 0.05'
         cutorch.setStream(1) -- whose memory can be given back
         torch.CudaTensor(10)
         collectgarbage()
         collectgarbage()
         print(pcall(cutorch.synchronizeAll))
      ]], 2, 'hang=2', {DPT_CACHE = 'off', DPT_TIMEOUT = '7', DPT_EMULATED_ASYNC = '1'})
      assert.matches('false\t.*it did not end within 7 s', text)
   end)
end)
