local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local run = require 'spec.support.run'
local lib = require('dpt.ffi').lib

-- Returns the number of OS threads of this process.
local function threads()
   local count = -1 -- minus the line of echo
   for _ in io.popen 'ls -1 /proc/$PPID/task; echo':lines() do count = count + 1 end
   return count
end

describe('dpt.parallel.dispatch.threads', function()
   local n = same.most(4)

   same.seeded(5)

   it('ends its workers when it is closed, changed or collected', function()
      if n < 2 then return pending('needs 2 devices') end
      local input = torch.CudaTensor(n, 6):fill(1)
      local function make()
         local many = nn.DataParallelTable(1, true):add(nn.Linear(6, 6):cuda(), same.range(n))
         same.pass(many, input)
         return many
      end
      make()
      cutorch.synchronizeAll()
      local before, quiet = threads(), 0 -- workers of previous tests may still be ending
      while quiet < 10 do
         collectgarbage()
         collectgarbage()
         local now = threads()
         before, quiet = now, now == before and quiet + 1 or 0
      end
      local many = make():threads()
      same.pass(many, input)
      assert.equal(before + n - 1, threads())
      many.impl:close()
      assert.equal(before, threads())
      many:forward(input) -- starts new workers
      assert.equal(before + n - 1, threads())
      many:threads()
      assert.equal(before, threads())
      local function dropOne() -- a function, so that no stack slot holds it afterwards
         local dropped = make():threads()
         dropped:forward(input)
         assert.equal(before + n - 1, threads())
      end
      dropOne()
      local patience = 200
      repeat
         collectgarbage()
         collectgarbage()
         patience = patience - 1
      until threads() == before or patience == 0
      assert.equal(before, threads())
   end)

   it('A19: raises with the reason if a thread cannot start, and starts later', function()
      if n < 2 then return pending('needs 2 devices') end
      local many = nn.DataParallelTable(1, true):add(nn.Linear(6, 6):cuda(), same.range(n))
         :threads()
      local input = torch.CudaTensor(n, 6):fill(1)
      local wanted = nn.DataParallelTable(1):add(many:get(1):clone(), same.range(n)):forward(input)
      cutorch.synchronizeAll() -- all streams have their threads
      for k = 1, n - 1 do
         lib.fault_set('thread:' .. k)
         local message = same.raised(many.forward, many, input)
         lib.fault_set('')
         assert.matches(('worker %d of %d: its thread can not start'):format(k, n - 1), message)
         assert.equal(1, cutorch.getDevice())
      end
      same.bits(wanted, many:forward(input))
   end)

   it('works on 64 devices', function()
      local text = run.lua([[
         require 'dpt'
         torch.manualSeed(1)
         local net, list = nn.Linear(6, 6):cuda(), {}
         for i = 1, 64 do list[i] = i end
         local all = {}
         for k = 1, 2 do
            all[k] = nn.DataParallelTable(1, true):add(net:clone(), list)
            if k == 2 then all[k]:threads() end
         end
         for _, rows in ipairs{130, 3} do
            local input = torch.randn(rows, 6):cuda()
            for k = 1, 2 do all[k]:backward(input, all[k]:forward(input)) end
            assert(all[1].output:ne(all[2].output):sum() == 0)
            assert(all[1].gradInput:ne(all[2].gradInput):sum() == 0)
         end
         local _, one = all[1]:getParameters()
         local _, other = all[2]:getParameters()
         print(one:ne(other):sum(), one:nElement())]], {DPT_DEVICES = 'host:64'})
      assert.equal('0\t42\n', text)
   end)
end)
