-- Rows C1 to C7: problems reported by users of NCCL (docs/user-issues.md). Tests that need NCCL use
-- a stand-in on emulated devices, which can misbehave on request.
local standIn = require 'spec.support.stand_in'

-- The result of allReduce, the same for all transports.
local SUM = [[
   local list = tensors(5)
   nccl.allReduce(list)
   for i = 1, n do assert(list[i]:sum() == 5 * n * (n + 1) / 2) end
   print(comm.transport())
]]

local STRICT = [[
   local ok, why = pcall(comm.setTransport, 'nccl', true)
   assert(not ok)
   print(why)
]] .. SUM

describe('users of NCCL #hostonly', function()
   it('C1: what the loader says is reported, and copies serve instead #noasan', function()
      local out = standIn.run(STRICT, 2, '', {DPT_NCCL = '/nowhere/libnccl.so.2'})
      assert.matches('NCCL was asked for, but NCCL can', out)
      assert.matches('/nowhere/libnccl%.so%.2: cannot open shared object file', out)
      assert.matches('tensors travel between devices by copies\ncopy\n$', out)
      -- a library without the functions; one with missing dependencies gives the same message
      out = standIn.run(STRICT, 2, '', {DPT_NCCL = standIn.library:gsub('nccl_fake', 'dpt')})
      assert.matches('has no function ncclGetVersion.*\ncopy\n$', out)
      out = standIn.run("for _ = 1, 2 do assert(not comm.setTransport 'nccl') end" .. SUM, 2, '',
         {DPT_NCCL = '/nowhere/libnccl.so.2'})
      assert.matches('^dpt: NCCL was asked for[^\n]*\ncopy\n$', out) -- only one line
      out = standIn.run(STRICT, 2, '', {DPT_NCCL = ''})
      assert.matches('emulated devices have none', out)
   end)

   it('C2: a version that dpt does not know is rejected #noasan', function()
      for _, version in ipairs{10800, 21805, 30000} do
         local out = standIn.run(STRICT, 2, 'version=' .. version)
         assert.matches('NCCL has version ' .. version .. '.*wanted 22200 to 29999', out)
         assert.matches('\ncopy\n$', out)
      end
      local out = standIn.run("assert(comm.setTransport 'nccl')" .. SUM, 2, 'version=23001')
      assert.matches('\nnccl\n$', out)
   end)

   it('C3: statuses are numbers that C compares; Lua never sees them #noasan', function()
      local pipe = io.popen "grep -rlE 'nccl(Result|Success|Comm|AllReduce)' lua"
      assert.equal('', pipe:read '*a')
      pipe:close()
      local out = standIn.run(STRICT, 2, 'reject')
      assert.matches('ncclCommInitRankConfig: no sockets on demand %(unhandled system error%)', out)
      assert.matches('\ncopy\n$', out)
   end)

   it('C4: two devices that are stuck are found by a test at the start #noasan', function()
      for _, pair in ipairs{{0, 2}, {1, 2}} do
         local out = standIn.run(STRICT, 4, ('stuck=%d,%d'):format(pair[1], pair[2]),
            {DPT_TIMEOUT = '1'})
         assert.matches(('devices %d and %d failed'):format(pair[1] + 1, pair[2] + 1), out)
         assert.matches('did not end within 1 s', out)
         assert.matches('NCCL_P2P_DISABLE=1', out)
         assert.matches('\ncopy\n$', out)
      end
      assert.matches('did not begin within 1 s',
         standIn.run(STRICT, 2, 'unready', {DPT_TIMEOUT = '1'}))
      assert.matches('device 1 got 4, wanted 3', standIn.run(STRICT, 2, 'wrong'))
      local out = standIn.run(STRICT, 3, 'hang=1', {DPT_TIMEOUT = '1'})
      assert.matches('3 devices failed, though every two of them can sum', out)
   end)

   it('C4: what is stuck or fails later is aborted, raised once, and can be tried again #noasan',
      function()
      local later = [[
         assert(comm.setTransport 'nccl')
         local list = tensors(5)
         nccl.allReduce(list) -- the second group
         local raised = 0
         local function attempt(f)
            local ok, why = pcall(f)
            if not ok then
               raised = raised + 1
               print(why)
            end
         end
         list = tensors(5)
         attempt(function() nccl.allReduce(list) end)
         for i = 1, n do
            attempt(function() cutorch.withDevice(i, cutorch.synchronize) end)
         end
         assert(raised == 1, raised)
         assert(comm.transport() == 'copy')
      ]] .. SUM .. "assert(comm.setTransport 'nccl')" .. SUM
      for fault, message in pairs{['hang=3'] = 'it did not end within 1 s',
         ['fail=3'] = 'a link went down on demand'} do
         local out = standIn.run(later, 3, fault, {DPT_TIMEOUT = '1'})
         assert.matches('allReduce: NCCL of devices 1, 2, 3: [^\n]*' .. message, out)
         assert.matches('by copies from now on', out)
         assert.matches('\ncopy\n[^\n]*\n?nccl\n$', out)
      end
   end)

   it('C5: what does not fit together is rejected before anything is queued #noasan', function()
      local out = standIn.run([[
         assert(comm.setTransport 'nccl')
         local before = comm.copied()
         local function rejected(f)
            local ok, why = pcall(f)
            assert(not ok)
            print(why)
         end
         local a, b = tensors(4), tensors(5)
         rejected(function() nccl.allReduce{a[1], b[2]} end)
         local c = cutorch.withDevice(2, function() return torch.CudaIntTensor(4) end)
         rejected(function() nccl.allReduce{a[1], c} end)
         rejected(function() nccl.bcast({a[1], a[2]}, false, 3) end)
         assert(comm.copied() == before)
      ]] .. SUM, 2)
      assert.matches('input 2 is a torch.CudaTensor of size 5, wanted 4 elements', out)
      assert.matches('wanted a contiguous torch.CudaTensor', out)
      assert.matches('root is 3', out)
      assert.matches('\nnccl\n$', out)
   end)

   it('C6: two devices that are one GPU are reported, and copies serve them #noasan', function()
      local out = standIn.run(STRICT, '0,1,0')
      assert.matches('devices 1 and 3 are one GPU, which NCCL does not take', out)
      assert.matches('tensors travel between devices by copies\ncopy\n$', out)
   end)

   it('C7: every root, of every set of devices #noasan', function()
      local out = standIn.run([[
         assert(comm.setTransport 'nccl')
         for first = 1, n do
            for last = first, n do
               for root = 1, last - first + 1 do
                  local all, list = tensors(70000), {}
                  for i = last, first, -1 do list[#list + 1] = all[i] end
                  local sum, count = (last * (last + 1) - (first - 1) * first) / 2, #list
                  nccl.reduce(list, nil, false, root)
                  for i = 1, count do
                     local wanted = i == root and sum or last + 1 - i
                     assert(list[i]:min() == wanted and list[i]:max() == wanted)
                  end
                  nccl.bcast(list, true, root)
                  for i = 1, count do
                     assert(list[i]:min() == sum and list[i]:max() == sum)
                  end
               end
            end
         end
         print(comm.transport())
      ]], 5)
      assert.matches('\nnccl\n$', out)
   end)
end)
