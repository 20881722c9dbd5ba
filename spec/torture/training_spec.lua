-- Random training runs: compares a network in an nn.DataParallelTable with the same one on one
-- device.
--
-- Invariant: a run depends only on its seed. Losses, outputs, gradInputs, gradients and parameters
-- are compared in every step. In a third of the runs the network is changed between steps, while
-- replicas exist. DPT_TORTURE_SEED=N repeats one run.
local dpt = require 'dpt'
local torch, nn, cutorch, optim = dpt.torch, dpt.nn, dpt.cutorch, dpt.optim
local buckets = require 'dpt.parallel.params.buckets'
local networks = require 'spec.support.random_networks'
local same = require 'spec.support.parallel'
local surgery = require 'spec.support.surgery'

local COUNT, RATE = 500, 0.005

local function newStates()
   local function state() return {learningRate = RATE, momentum = 0.9} end
   return {state(), state()}
end

-- Returns the tolerance for rounding errors of a type.
local function toleranceOf(type) return type == 'torch.CudaTensor' and 1e-4 or 1e-8 end

-- Sorted kinds of surgery; 'noSync' and 'raise' concern the step itself.
local kinds = {'noSync', 'raise'}
for kind in pairs(surgery) do table.insert(kinds, kind) end
table.sort(kinds)

local function init() require 'spec.support.modules' end

-- Returns the choices of a seed besides the network.
local function planOf(seed, choose)
   local most = same.most(5)
   local devices, free = {}, same.range(most)
   for i = 1, choose(most) do devices[i] = table.remove(free, choose(#free)) end
   return {
      seed = seed, devices = devices, flat = choose(2) == 1, overlap = choose(2) == 1,
      threads = choose(2) == 1, small = choose(2) == 1, accumulate = choose(3) == 1,
      update = choose{'updateParameters', 'sgd', 'hand'}, surgery = seed % 3 == 0,
      type = choose{'torch.CudaTensor', 'torch.CudaDoubleTensor'}, steps = 3 + choose(2),
   }
end

local function titleOf(plan, net)
   local text = tostring(net):gsub('%s+', ' '):sub(1, 400)
   return ('seed %d: devices {%s}, %s, %s, %s, %s, %s: %s'):format(plan.seed,
      table.concat(plan.devices, ','), plan.threads and 'Threads' or 'Basic',
      plan.flat and 'flat' or 'not flat', plan.overlap and 'overlap' or 'no overlap', plan.update,
      plan.type, text)
end

-- Returns a batch of that type on the current device; without rows it still has the other sizes.
local function batchOf(run, rows)
   local function convert(value)
      if not torch.isTensor(value) then
         local list = {}
         for k, v in ipairs(value) do list[k] = convert(v) end
         return list
      end
      if rows > 0 then return value:type(run.type) end
      local size = value:size()
      size[run.dimension] = 0
      return torch.getmetatable(run.type).new(size)
   end
   return convert(run.batch(math.max(rows, 1)))
end

local function poison(value)
   local t = torch.isTensor(value) and value:clone() or {value[1]:clone(), value[2]}
   local sample = torch.isTensor(t) and t or t[1]
   sample:select(1, sample:size(1)):fill(math.huge)
   return t
end

-- Runs forward and backward of both networks and compares them.
local function pass(run, one, many, rows, between)
   local plan, tolerance = run.plan, run.tolerance
   local input = batchOf(run, rows)
   local function forward(net)
      cutorch.manualSeedAll(run.draws) -- both must draw the same numbers
      return net:forward(input)
   end
   run.draws = run.draws + 1
   local expected, got = forward(one), forward(many)
   if rows == 0 then
      assert.equal(0, expected:nElement())
      assert.equal(0, got:nElement())
      one:backward(input, expected)
      many:backward(input, got)
      return
   end
   same.close({output = expected}, {output = got}, tolerance)
   local target = torch.randn(expected:size()):type(run.type)
   local gradOutput = expected - target
   assert.is_true(math.abs(gradOutput:norm() - (got - target):norm()) <= tolerance
      * math.max(1, gradOutput:norm()), 'the loss differs')
   if between then between(input, gradOutput) end
   local scale = plan.seed % 2 == 0 and 0.5 or nil
   local gradInput = one:backward(input, gradOutput, scale)
   same.close({gradInput = gradInput},
      {gradInput = many:backward(input, gradOutput, scale)}, tolerance)
end

-- Both raise for a poisoned input, or for a poisoned gradOutput.
local function raise(run, one, many, choose)
   local forwards = choose(2) == 1
   local input = batchOf(run, #run.plan.devices + 1)
   for _, net in ipairs{one, many} do
      local ok, message
      if forwards then
         ok, message = pcall(net.forward, net, poison(input))
      else
         local output = net:forward(input)
         ok, message = pcall(net.backward, net, input, poison(output))
      end
      assert.is_false(ok)
      assert.matches('poisoned', message)
      net:zeroGradParameters()
   end
end

local function checkSame(one, many, tolerance)
   local lists = {}
   for k, net in ipairs{one, many} do
      local values, gradients = net:parameters()
      lists[k] = {gradients = gradients, parameters = values}
   end
   same.close(lists[1], lists[2], tolerance)
end

local updates = {
   updateParameters = function(net) net:updateParameters(RATE) end,
   hand = function(net)
      local values, gradients = net:parameters()
      for k, t in ipairs(values) do t:add(-RATE, gradients[k]) end
   end,
   sgd = function(net, state)
      local values, gradients = net:getParameters()
      optim.sgd(function() return 0, gradients end, values, state)
   end,
}

local function operate(run, kind, number)
   local nets = {run.one, run.many}
   for k, net in ipairs(nets) do
      torch.manualSeed(run.plan.seed + number)
      local first = k == 1 and net or net:get(1)
      nets[k] = surgery[kind](net, first, networks.choices(run.plan.seed + number))
   end
   run.one, run.many = unpack(nets)
   run.states = newStates()
   run.type = run.one:type()
   run.tolerance = math.max(run.tolerance, toleranceOf(run.type)) -- a rounding error stays
end

local function step(run, number, counts, choose)
   local plan, n = run.plan, #run.plan.devices
   local kind = plan.surgery and number > 1 and kinds[(plan.seed / 3 * 4 + number) % #kinds + 1]
   run.what = ('step %d%s'):format(number, kind and ', after ' .. kind or '')
   if kind then counts[kind] = (counts[kind] or 0) + 1 end
   if kind and surgery[kind] then operate(run, kind, number) end
   local one, many = run.one, run.many
   if kind == 'raise' then raise(run, one, many, choose) end
   if number == 1 or not plan.accumulate or kind then
      one:zeroGradParameters()
      many:zeroGradParameters()
   end
   local rows = choose(3 * n + 1) - 1
   if kind == 'noSync' then
      many:noSync(function() pass(run, one, many, choose(3 * n)) end)
   end
   pass(run, one, many, rows)
   checkSame(one, many, run.tolerance)
   for k, net in ipairs{one, many} do updates[plan.update](net, run.states[k]) end
   checkSame(one, many, run.tolerance)
end

local function train(seed, counts)
   local choose = networks.choices(seed)
   torch.manualSeed(seed)
   local plan = planOf(seed, choose)
   local limits = {buckets.first, buckets.rest}
   if plan.small then buckets.first, buckets.rest = 64 * 4, 96 * 4 end
   local run = {plan = plan, draws = seed * 100, what = 'the network', type = plan.type,
      states = newStates(),
      tolerance = toleranceOf(plan.type)}
   local net
   local ok, message = cutorch.withDevice(plan.devices[1], xpcall, function()
      net, run.batch, run.dimension = networks.make(choose)
      run.one = net:type(plan.type)
      run.many = nn.DataParallelTable(run.dimension, plan.flat):add(net:clone(), plan.devices)
         :type(plan.type)
      run.many.overlap = plan.overlap
      if plan.threads then run.many:threads(init) end
      for number = 1, plan.steps do step(run, number, counts, choose) end
   end, function(text)
      if type(text) == 'table' then text = tostring(text.message or text) end
      return debug.traceback(text)
   end)
   if run.many then run.many.impl:close() end
   buckets.first, buckets.rest = unpack(limits)
   if ok then return end
   error(('%s: %s\n%s'):format(titleOf(plan, net), run.what, message), 0)
end

describe('Random training on several devices', function()
   it('has the losses, gradients and parameters of one device', function()
      local counts, wrong, only = {}, {}, tonumber(os.getenv 'DPT_TORTURE_SEED')
      local full = os.getenv 'DPT_TORTURE' == 'full'
      local every = full and 1 or 20
      local first = only or 1 + (tonumber(os.getenv 'DPT_SEED') or 0) % every
      for seed = first, only or COUNT, every do
         local ok, message = pcall(train, seed, counts)
         if not ok then wrong[#wrong + 1] = message end
         collectgarbage()
      end
      assert.equal('', table.concat(wrong, '\n\n'))
      for _, kind in ipairs(full and kinds or {}) do
         assert.is_true((counts[kind] or 0) >= 30, ('%s: %s'):format(kind, counts[kind]))
      end
   end)
end)
