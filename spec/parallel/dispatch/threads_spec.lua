local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local buckets = require 'dpt.parallel.params.buckets'
local modules = require 'spec.support.modules'
local same = require 'spec.support.parallel'
local lib = require('dpt.ffi').lib

local function init() require 'spec.support.modules' end

-- Networks that map rows of 6 to rows of 6.
local networks = {
   deep = function()
      return nn.Sequential():add(nn.Linear(6, 9)):add(nn.Tanh()):add(nn.Linear(9, 9))
         :add(nn.ReLU(true)):add(nn.Linear(9, 6))
   end,
   noisy = function()
      return nn.Sequential():add(nn.Linear(6, 8)):add(nn.BatchNormalization(8))
         :add(nn.Dropout(0.4)):add(nn.Linear(8, 6)):add(nn.Dropout(0.2))
   end,
   tied = function()
      local net = nn.Sequential():add(nn.Linear(6, 6)):add(nn.Tanh()):add(nn.Linear(6, 6))
      net:get(3):share(net:get(1), 'weight', 'gradWeight')
      return net
   end,
   own = function()
      return nn.Sequential():add(modules.Repeated(6, 2)):add(modules.Meddler(nn.Linear(6, 6)))
   end,
   empty = function() return nn.Sequential():add(nn.Tanh()):add(nn.MulConstant(2)) end,
}

describe('dpt.parallel.dispatch.threads', function()
   local most = same.most(8)
   local n = math.min(most, 4)

   same.seeded(5)

   -- Returns a network with each dispatcher.
   local function pair(net, devices, flat)
      local basic = nn.DataParallelTable(1, flat):add(net:clone(), same.range(devices))
      return basic, nn.DataParallelTable(1, flat):add(net:clone(), same.range(devices))
         :threads(init)
   end

   local function step(many, input, gradOutput)
      many:zeroGradParameters()
      local output = many:forward(input)
      local gradInput = many:backward(input, gradOutput)
      local values, gradients = many:parameters()
      for k, t in ipairs(values or {}) do t:add(-0.1, gradients[k]) end
      return {output, gradInput, gradients}
   end

   for name, make in pairs(networks) do
      it('returns the bits of one thread: ' .. name, function()
         for devices = 1, most, most > 4 and 2 or 1 do
            local basic, other = pair(make():cuda(), devices, devices % 2 == 1)
            for k, rows in ipairs{2 * devices + 1, 1, 3 * devices, 2} do
               local input = torch.randn(rows, 6):cuda()
               local gradOutput = input:clone():normal()
               same.bits(same.rewind(step, basic, input, gradOutput),
                  step(other, input, gradOutput))
               if k == 2 then
                  for _, many in ipairs{basic, other} do many:evaluate() end
                  same.bits(basic:forward(input), other:forward(input))
                  for _, many in ipairs{basic, other} do many:training() end
               end
            end
            same.checkReplicas(other)
            other.impl:close()
         end
      end)
   end

   it('runs every replica except the first in its own Lua state #devices2', function()
      local many = nn.DataParallelTable(1):add(nn.Linear(6, 6):cuda(), same.range(n)):threads(init)
      local here = {}
      local seen = many.impl:exec(function(replica, i)
         return {_G.__threadid or 0, cutorch.getDevice(), replica.weight:getDevice(), i}
      end)
      for i = 1, n do here[i] = {i - 1, i, i, i} end
      assert.same(here, seen)
      assert.equal(1, cutorch.getDevice())
      assert.same({7, 7}, many.impl:exec(function(_, _) return 7 end, 2))
   end)

   it('calls the init function once per state, before it receives the network #devices2', function()
      local calls = {}
      local many = nn.DataParallelTable(1)
         :add(nn.Sequential():add(modules.Whole(6)):cuda(), same.range(n))
         :threads(function(i)
            require 'spec.support.modules'
            _G.dptspecCalls = (_G.dptspecCalls or 0) + 1
            calls[#calls + 1] = i
         end)
      for _ = 1, 2 do many:forward(torch.CudaTensor(n, 6):fill(1)) end
      for i, count in ipairs(many.impl:exec(function() return _G.dptspecCalls end)) do
         assert.equal(1, count, i)
      end
      assert.same({1}, calls) -- replica 1 runs in this state
      _G.dptspecCalls = nil
   end)

   it('names a class that is missing in a state', function()
      if n < 2 then return pending('needs 2 devices') end
      local many = nn.DataParallelTable(1):add(modules.Whole(6):cuda(), same.range(n)):threads()
      local input = torch.CudaTensor(n, 6):fill(1)
      assert.matches('dptspec.Whole', same.raised(many.forward, many, input))
      many:threads(init)
      assert.equal(n, many:forward(input):size(1))
   end)

   it('raises the error of an init function, and accepts another function #devices2', function()
      local many = nn.DataParallelTable(1):add(nn.Linear(6, 6):cuda(), same.range(n))
      many:threads(function(i) if i == n then error('no start') end end)
      for _ = 1, 2 do
         assert.matches('no start', same.raised(many.forward, many, torch.CudaTensor(n, 6)))
      end
      many:threads()
      assert.equal(n, many:forward(torch.CudaTensor(n, 6):fill(1)):size(1))
   end)

   it('G14: raises the errors of all replicas, in time, and trains on', function()
      if n < 3 then return pending('needs 3 devices') end
      local net = nn.Sequential():add(nn.Linear(6, 6)):add(modules.Fuse()):cuda()
      local basic, other = pair(net, n, true)
      local input = torch.randn(2 * n, 6):cuda()
      step(other, input, input)
      step(basic, input, input)
      local times, usual = {}, {}
      for round = 1, 20 do
         local method = round % 2 == 0 and 'updateOutput' or 'updateGradInput'
         local both = round % 3 > 0 -- else only one replica
         local blows = {[round % n + 1] = 'first'}
         if both then blows[(round + 1) % n + 1] = 'message' end
         local messages = {}
         for k, many in ipairs{basic, other} do
            many.impl:exec(function(replica) replica:get(2).blows = {[method] = blows} end)
            local timer = torch.Timer()
            local message = same.raised(step, many, input, input)
            table.insert(times, timer:time().real)
            assert.equal(1, cutorch.getDevice())
            many.impl:exec(function(replica) replica:get(2).blows = {} end)
            messages[k] = {}
            for line in message:gmatch '[^\n]+' do
               if line:find '^In ' or line:find 'first$' or line:find 'sizes do not fit'
                  or line:find '^stack traceback:' then
                  table.insert(messages[k], (line:gsub('^.-:%d+: ', '')))
               end
            end
         end
         assert.equal(both and 8 or 4, #messages[1])
         assert.same(messages[1], messages[2])
         local timer = torch.Timer()
         same.bits(step(basic, input, input), step(other, input, input))
         table.insert(usual, timer:time().real)
      end
      table.sort(times)
      table.sort(usual)
      assert.is_true(times[20] < 0.1 + 10 * usual[10])
   end)

   it('A10: names what cannot be sent, once, and runs nothing', function()
      if n < 2 then return pending('needs 2 devices') end
      local many = nn.DataParallelTable(1):add(nn.Linear(6, 6):cuda(), same.range(n)):threads()
      local ran, inner = false, {thing = coroutine.create(print)}
      local message = same.raised(many.impl.exec, many.impl, function()
         ran = true
         return inner
      end)
      assert.is_false(ran)
      assert.matches("field 'thing' of upvalue 'inner'", message)
      assert.equal(1, select(2, message:gsub("upvalue 'inner'", '')))
      many:apply(function(module) module.keep = coroutine.create(print) end)
      assert.matches("field 'keep'", same.raised(many.forward, many, torch.CudaTensor(n, 6)))
      many:apply(function(module) module.keep = nil end)
      assert.equal(n, many:forward(torch.CudaTensor(n, 6):fill(1)):size(1))
   end)

   it('carries upvalues and returns results', function()
      local many = nn.DataParallelTable(1):add(nn.Linear(6, 6):cuda(), same.range(n)):threads()
      local factor, list = 3, {1, 2}
      local results = many.impl:exec(function(replica, i)
         return {replica.weight:clone():fill(factor * i), #list}
      end)
      for i = 1, n do
         assert.equal(36 * 3 * i, results[i][1]:sum())
         assert.equal(i, results[i][1]:getDevice())
         assert.equal(2, results[i][2])
      end
   end)

   it('returns to each call its own answers if one is left on the way and ends later', function()
      if n < 2 then return pending 'needs 2 devices' end
      local many = nn.DataParallelTable(1):add(nn.Linear(6, 6):cuda(), same.range(n)):threads()
      local function call(text)
         return many.impl:exec(function(_, i)
            if i == 1 and text:find 'left' then coroutine.yield() end
            return text .. i
         end)
      end
      local function wanted(text)
         local list = {}
         for i = 1, n do list[i] = text .. i end
         return list
      end
      call 'first'
      local left, lost = coroutine.create(call), coroutine.create(call)
      assert.is_true(coroutine.resume(left, 'left'))
      assert.is_true(coroutine.resume(lost, 'lost, and left'))
      assert.same(wanted 'fresh', call 'fresh')
      assert.same(wanted 'again', call 'again')
      assert.same({true, wanted 'left'}, {coroutine.resume(left)})
   end)

   it("returns each call's own answers if calls are nested", function()
      local many = nn.DataParallelTable(1):add(nn.Linear(6, 6):cuda(), same.range(n)):threads()
      local input, inner = torch.randn(2 * n, 6):cuda(), nil
      local wanted = many:forward(input):clone()
      local outer = many.impl:exec(function(_, i)
         if i == 1 then inner = many:forward(input):clone() end
         return i
      end)
      assert.same(same.range(n), outer)
      same.bits(wanted, inner)
   end)

   it('is also the dispatcher of a clone, and clears the state of every replica', function()
      local many = nn.DataParallelTable(1):add(networks.deep():cuda(), same.range(n)):threads(init)
      many:forward(torch.randn(2 * n, 6):cuda())
      assert.equal('nn.DataParallelTable.Threads', torch.type(many:clone().impl))
      many:clearState()
      for _, size in ipairs(many.impl:exec(function(replica)
         return replica:get(1).output:nElement()
      end)) do assert.equal(0, size) end
   end)

   it('reduces during the backward pass, with random delays', function()
      if n < 2 then return pending('needs 2 devices') end
      local limits = {buckets.first, buckets.rest}
      finally(function()
         buckets.first, buckets.rest = unpack(limits)
         lib.delay_set(0)
      end)
      buckets.first, buckets.rest = 48 * 4, 60 * 4
      lib.delay_set(tonumber(os.getenv 'DPT_SEED') or 11)
      for _, make in ipairs{networks.deep, networks.noisy, networks.tied, networks.own} do
         local basic, other = pair(make():cuda(), n, true)
         basic.overlap = false
         for k = 1, 6 do
            local input = torch.randn(k % 2 == 0 and 2 * n + 1 or n - 1, 6):cuda()
            same.bits(same.rewind(step, basic, input, input), step(other, input, input))
         end
         if make == networks.deep then assert.is_truthy(other.params.overlap) end
         assert.equal(basic.copiedBytes.gradients, other.copiedBytes.gradients)
         same.checkReplicas(other)
         other.impl:close()
      end
   end)

   it('makes copies sequentially on request', function()
      local basic, many = pair(networks.deep():cuda(), n, true)
      many:threads(init, true)
      local input = torch.randn(2 * n, 6):cuda()
      same.bits(step(basic, input, input), step(many, input, input))
   end)
end)
