-- 10,000 errors of every kind, in forward, backward and sync of a parallel network: each is raised
-- in time, nothing hangs or leaks, and training continues (D1, G14; DPT_TORTURE=full for all).
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local dptffi = require 'dpt.ffi'
local lib, C = dptffi.lib, dptffi.C
local modules = require 'spec.support.modules'
local same = require 'spec.support.parallel'
local torture = require 'spec.support.torture'

-- Seconds in which an error must be raised; on a busy machine, plus ten times the duration of a
-- step without an error.
local SECONDS, USUAL = 0.1, 10

describe('10,000 errors', function()
   local n = same.most(4)

   after_each(function()
      lib.fault_set ''
      for i = 1, n do cutorch.setMemoryLimit(i, 0) end
      pcall(cutorch.synchronizeAll)
   end)

   local function network()
      torch.manualSeed(2)
      return nn.Sequential():add(modules.Trouble()):add(nn.Linear(6, 7)):add(nn.Tanh())
         :add(nn.Linear(7, 3)):cuda()
   end

   -- Kinds of errors: functions(many, input, gradOutput, device) that prepare an error and return a
   -- function that raises it.
   local function forward(many, x, trouble)
      return function()
         many:forward{x, trouble}
         cutorch.synchronizeAll()
      end
   end
   local function backward(many, x, gradOutput, trouble)
      many:forward{x, trouble}
      cutorch.synchronizeAll()
      return function()
         many:backward({x, trouble}, gradOutput)
         cutorch.synchronizeAll()
      end
   end

   local kinds = {}
   for _, how in ipairs{'lua', 'message', 'index', 'memory'} do
      kinds['forward ' .. how] = function(many, x, _, device)
         return forward(many, x, {'forward', device, how})
      end
      kinds['backward ' .. how] = function(many, x, gradOutput, device)
         return backward(many, x, gradOutput, {'backward', device, how})
      end
   end
   kinds['forward copy'] = function(many, x, _, device)
      lib.fault_set('copy:' .. device)
      return forward(many, x)
   end
   kinds['backward copy'] = function(many, x, gradOutput, device)
      local f = backward(many, x, gradOutput)
      lib.fault_set('copy:' .. device)
      return f
   end
   kinds['sync copy'] = function(many, _, _, device)
      many:getParameters():add(0.001)
      cutorch.synchronizeAll()
      lib.fault_set('copy:' .. math.max(1, device - 1))
      return function()
         many:syncParameters()
         cutorch.synchronizeAll()
      end
   end
   kinds['sync place'] = function(many) -- a parameter on another device
      local layer = many:get(1):get(2)
      local bias = layer.bias
      layer.bias = cutorch.withDevice(n, function() return bias:clone() end)
      return function() many:syncParameters() end, function() layer.bias = bias end
   end
   local names = {}
   for name in pairs(kinds) do names[#names + 1] = name end
   table.sort(names)

   local function memory(many)
      same.collect(many)
      local list = {tonumber(C.dpt_host_live_bytes())}
      for i = 1, n do list[i + 1] = same.liveBytes(i) end
      return list, collectgarbage 'count'
   end

   -- Causes an error of a kind; returns the time that it took.
   local function once(many, name, device, x, gradOutput)
      if name:find 'memory' then
         local stats = cutorch.memoryStats(device)
         cutorch.setMemoryLimit(device, stats.live + stats.cached)
      end
      local f, repair = kinds[name](many, x, gradOutput, device)
      local begin = C.dpt_clock()
      local ok, message = pcall(f)
      local took = C.dpt_clock() - begin
      if repair then repair() end
      lib.fault_set ''
      cutorch.setMemoryLimit(device, 0)
      assert.is_false(ok, name .. ' raised nothing')
      assert.equal('string', type(message))
      assert.equal(1, cutorch.getDevice())
      local drained = 0 -- errors of other devices from the same cause
      while not pcall(cutorch.synchronizeAll) do
         drained = drained + 1
         assert.is_true(drained <= n, name .. ' is raised for ever')
      end
      return took
   end

   local function run(many, count)
      local one = network()
      local x, gradOutput = torch.randn(2 * n + 1, 6):cuda(), torch.randn(2 * n + 1, 3):cuda()
      many.gradInput = nil
      many:forward{x} -- allocates memory on every device, so that a limit has an effect
      local before, lua
      for k = 1, count do
         local name, device = names[k % #names + 1], math.floor(k / #names) % n + 1
         local took, limit = once(many, name, device, x, gradOutput), SECONDS
         for _ = 1, 20 do -- other load on the machine may delay one
            if took <= limit then break end
            local begin = C.dpt_clock()
            many:forward{x}
            many:backward({x}, gradOutput)
            cutorch.synchronizeAll()
            for _ = 1, 2 do collectgarbage() end -- as in an out-of-memory error
            limit = SECONDS + USUAL * (C.dpt_clock() - begin)
            took = once(many, name, device, x, gradOutput)
         end
         assert.is_true(took <= limit, ('%s on device %d took %g s'):format(name, device, took))
         if k % (3 * #names) == 0 or k == count then
            same.copyParameters(one, many:get(1))
            for _, net in ipairs{one, many} do net:zeroGradParameters() end
            same.close(one:forward{x}, many:forward{x}, 1e-5)
            one:backward({x}, gradOutput)
            many:backward({x}, gradOutput)
            same.close(select(2, one:parameters()), select(2, many:parameters()), 1e-5)
            same.checkReplicas(many)
         end
         if k == 6 * #names then before, lua = memory(many) end
      end
      local after, luaAfter = memory(many)
      for i, bytes in ipairs(after) do
         assert.is_true(bytes <= before[i], bytes - before[i] .. ' bytes are lost, ' .. i)
      end
      assert.is_true(luaAfter - lua < 1024, luaAfter - lua .. ' kB of Lua are lost')
   end

   it('return in time and leave no state, by Basic #devices2', function()
      run(nn.DataParallelTable(1, true):add(network(), same.range(n)), torture(8000))
   end)

   it('return in time and leave no state, by Threads #devices2', function()
      local many = nn.DataParallelTable(1, true):add(network(), same.range(n))
         :threads(function() require 'spec.support.modules' end)
      run(many, torture(2000))
      many.impl:close()
   end)
end)
