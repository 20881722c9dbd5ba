--- Fails every allocation of an operation, layer, criterion, optimizer or collective once.
--
-- Invariant: a call in which one allocation failed has the same effects as one without a failure,
-- bit by bit, generators included, or raises an error; the next call is then correct. A case is
-- {name, make = function(n) that creates its operands for n devices (0: the host) and returns f}.
-- f() does the work, returns the values to compare (tensors, numbers, tables of them), and can be
-- called again.
local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local torch, nn, cudnn, cutorch, comm = dpt.torch, dpt.nn, dpt.cudnn, dpt.cutorch, dpt.comm
local optim, nccl = dpt.optim, dpt.nccl
local lib, C, ffi, type = dptffi.lib, dptffi.C, dptffi.ffi, dptffi.type
local catalogue = require 'spec.support.catalogue'
local criterions = require 'spec.support.criterions'
local judge = require 'spec.support.fuzz.judge'
local operations = require 'spec.support.fuzz.operations'

local MOST = 4000 -- allocations of a case

local function deviceType(n) return n == 0 and 'torch.DoubleTensor' or 'torch.CudaDoubleTensor' end

local function convert(value, typename)
   if type(value) == 'table' then
      local list = {}
      for k, entry in pairs(value) do list[k] = convert(entry, typename) end
      return list
   end
   if type(value) ~= 'cdata' or not torch.isTensor(value) then return value end
   local whole = value:type():match '^torch%.(%w+)Tensor$' -- indices and masks keep their type
   if whole == 'Double' then return value:type(typename) end
   return typename:find 'Cuda' and value:type('torch.Cuda' .. whole .. 'Tensor') or value
end

local function list(n)
   local devices = {}
   for i = 1, n do devices[i] = i end
   return devices
end

local function seed()
   torch.manualSeed(5)
   if cutorch then cutorch.manualSeedAll(5) end
end

local cases = {}
local function add(name, make, devices)
   cases[#cases + 1] = {name = name, make = make, devices = devices}
end

-- tensors -----------------------------------------------------------------------------------------

local function matrices(typename, N)
   local names = {N = N}
   local plain = torch.range(1, N * N):resize(N, N)
   names.a = plain:clone():cmul(plain):add(7):fmod(11):add(1):add(3 * N, torch.eye(N))
   names.b = plain:clone():mul(3):fmod(7):add(1)
   names.r, names.v = torch.DoubleTensor(N, N):fill(3), torch.range(1, N)
   names.s, names.t = names.r:clone(), names.r:clone()
   for name in ('r s t a b v'):gmatch '%w' do names[name] = names[name]:type(typename) end
   local cuda = typename:find 'Cuda' and 'torch.Cuda' or 'torch.'
   names.i = torch.range(1, N):type(cuda .. 'LongTensor')
   names.I = plain:clone():fmod(N):add(1):type(cuda .. 'LongTensor')
   names.m = plain:clone():fmod(2):type(cuda .. 'ByteTensor')
   return names
end

for _, operation in ipairs(operations) do
   for _, N in ipairs{4, 70} do
      for name, typename in pairs{host = 'torch.FloatTensor', device = 'torch.CudaTensor'} do
         add(('%s of %s, %d'):format(operation.text, name, N), function(n)
            local kind = operation.text:find '^multinomial' and 'torch.LongTensor' or typename
            if kind ~= typename and n > 0 then kind = 'torch.CudaLongTensor' end
            return function()
               local names = cutorch.withDevice(math.max(n, 1), matrices, typename, N)
               if kind ~= typename then names.r = names.r:type(kind) end
               local r = names.r
               return function()
                  operations.call(operation, names)
                  return {r, names.s, names.t}
               end
            end
         end, name == 'host' and {0} or {1, 4})
      end
   end
end

-- layers ------------------------------------------------------------------------------------------

local ROWS = 5

local function gradient(value)
   if type(value) == 'table' then
      local result = {}
      for k, entry in pairs(value) do result[k] = gradient(entry) end
      return result
   end
   return type(value) == 'cdata' and value:clone():fill(0.5) or value
end

local function dimensionOf(input)
   return type(input) == 'cdata' and input:dim() > 1 and input:size(1) ~= ROWS
      and input:size(2) == ROWS
      and 2 or 1
end

-- Each call starts from scratch, also after one that failed between forward and backward.
local function forget(net)
   if net.forget then net:forget() end
end

-- Adds forward and backward of a network that make() creates, on input(rows).
local function network(name, make, input)
   add(name, function(n)
      seed()
      local original = make():type(deviceType(n))
      local x = convert(input(ROWS), deviceType(n))
      return function()
         seed()
         local net = original:clone()
         if n > 1 then
            net = nn.DataParallelTable(dimensionOf(x), true):add(net, list(n))
         end
         return function()
            if n > 1 then net:applyToReplicas(forget) else forget(net) end
            net:zeroGradParameters()
            local output = net:forward(x)
            local gradInput = net:backward(x, gradient(output))
            local _, gradients = net:parameters()
            return {output, gradInput, gradients}
         end
      end
   end, {0, 1, 2, 3, 4})
end

for _, case in ipairs(catalogue) do network('nn.' .. case.name, case.make, case.input) end
for _, kind in ipairs{'LSTM', 'GRU', 'RNNTanh', 'BLSTM'} do
   network('cudnn.' .. kind, function() return cudnn[kind](4, 3, 2) end,
      function(rows) return torch.Tensor(3, rows, 4):uniform() end)
end
network('a wide network', function() -- its sums are divided among the devices
   return nn.Sequential():add(nn.Linear(64, 2000)):add(nn.ReLU()):add(nn.Linear(2000, 60))
end, function(rows) return torch.Tensor(rows, 64):uniform() end)

-- criterions --------------------------------------------------------------------------------------

for _, case in ipairs(criterions) do
   add('nn.' .. case.name, function(n)
      seed()
      local typename = deviceType(n)
      local input, target = convert(case.input(ROWS), typename), case.target
         and convert(case.target(ROWS), typename)
      return function()
         local criterion = case.make():type(typename)
         if n > 1 then
            criterion = nn.DataParallelCriterion(criterion, {devices = list(n)}):type(typename)
         end
         return function()
            local loss = criterion:forward(input, target)
            return {loss, criterion:backward(input, target)}
         end
      end
   end, case.whole and {0, 1} or {0, 1, 2, 3, 4})
end

-- optimizers --------------------------------------------------------------------------------------

for name, config in pairs{sgd = {momentum = 0.9, weightDecay = 0.01}, adam = {},
   adamw = {amsgrad = true}, adamax = {}, adagrad = {},
   adadelta = {}, rmsprop = {}, nag = {momentum = 0.9}, asgd = {}, rprop = {}, cg = {maxIter = 2},
   lbfgs = {maxIter = 3}} do
   add('optim.' .. name, function(n)
      return function()
         local x = cutorch.withDevice(math.max(n, 1), function()
            return torch.range(1, 50):type(deviceType(n)):div(50)
         end)
         local goal, state, start = x:clone():fill(0.25), nil, x:clone()
         return function()
            x:copy(start)
            state = {learningRate = 0.1}
            for key, value in pairs(config) do state[key] = value end
            for _ = 1, 2 do
               optim[name](function(p)
                  local difference = torch.csub(p, goal)
                  return difference:dot(difference), difference:mul(2)
               end, x, state)
            end
            return x
         end
      end
   end, {0, 1, 4})
end

-- collectives -------------------------------------------------------------------------------------

-- Adds f(tensors, n): tensors[i] is on device i.
local function collective(name, f)
   for _, N in ipairs{10, 2 ^ 19} do
      add(('%s, %d'):format(name, N), function(n)
         return function()
            local original = {}
            for i = 1, n do
               original[i] = cutorch.withDevice(i,
                  function() return torch.CudaTensor(N):fill(i) end)
            end
            cutorch.synchronizeAll()
            local tensors = {}
            for i = 1, n do
               tensors[i] = cutorch.withDevice(i, function() return original[i]:clone() end)
            end
            return function()
               for i = 1, n do tensors[i]:copy(original[i]) end
               return {tensors, f(tensors, n)}
            end
         end
      end, {1, 2, 3, 4})
   end
end

local function others(tensors) return {unpack(tensors, 2)} end
local function outputs(tensors, times)
   local result = {}
   for i, t in ipairs(tensors) do
      result[i] = cutorch.withDevice(i,
         function() return torch.CudaTensor(t:nElement() * times):fill(0) end)
   end
   return result
end

collective('comm.reduceInto', function(t, n)
   if n > 1 then comm.reduceInto({t[1]}, others(t)) end
end)
collective('comm.allReduce', function(t) return comm.allReduce(t) end)
collective('comm.allReduce elsewhere', function(t) return comm.allReduce(t, outputs(t, 1)) end)
collective('comm.reduceAdd', function(t) return comm.reduceAdd(t, 1) end)
collective('comm.broadcast', function(t, n) return comm.broadcast(t[1], list(n)) end)
collective('comm.broadcastInto', function(t, n)
   if n > 1 then comm.broadcastInto({t[1]}, others(t)) end
end)
collective('comm.broadcastCoalesced', function(t, n)
   return comm.broadcastCoalesced({t[1], t[1]}, list(n))
end)
collective('comm.reduceAddCoalesced', function(t)
   local lists = {}
   for i, x in ipairs(t) do lists[i] = {x, x} end
   return comm.reduceAddCoalesced(lists, 1)
end)
collective('comm.scatter', function(t, n) return comm.scatter(t[1], list(n)) end)
collective('comm.scatter of the host', function(t, n)
   return comm.scatter(t[1]:float(), list(n))
end)
collective('comm.gather', function(t) return comm.gather(t, 1, 1) end)
collective('comm.gather to the host', function(t) return comm.gather(t, 1, 0) end)
collective('nccl.allReduce', function(t) return nccl.allReduce(t) end)
collective('nccl.reduce', function(t) return nccl.reduce(t) end)
collective('nccl.bcast', function(t) return nccl.bcast(t) end)
collective('nccl.allGather', function(t, n)
   local to = outputs(t, n)
   nccl.allGather(t, to)
   return to
end)

-- running them ------------------------------------------------------------------------------------

--- Appends a value to a list as strings and numbers; tensors as their bits.
local function flat(value, into)
   if type(value) == 'cdata' and torch.isTensor(value) then
      into[#into + 1] = value:type()
      for _, size in ipairs(value:size():totable()) do into[#into + 1] = size end
      local host = value:double():contiguous()
      local bytes = host:nElement() * 8
      into[#into + 1] = bytes > 0 and ffi.string(host:data(), bytes) or ''
   elseif type(value) == 'table' then
      local keys = {}
      for key in pairs(value) do keys[#keys + 1] = key end
      table.sort(keys, function(x, y) return tostring(x) < tostring(y) end)
      for _, key in ipairs(keys) do
         into[#into + 1] = tostring(key)
         flat(value[key], into)
      end
   elseif type(value) == 'number' then
      into[#into + 1] = value
   end
   return into
end

local function same(x, y)
   if #x ~= #y then return false end
   for i = 1, #x do
      if x[i] ~= y[i] and (x[i] == x[i] or y[i] == y[i]) then return false end
   end
   return true
end

-- Returns the results of f, and the numbers that the generators draw after it.
local function left(f, n)
   local result = flat(f(), {})
   result[#result + 1] = torch.random()
   for i = 1, n do
      cutorch.withDevice(i, function() flat(torch.CudaTensor(1):uniform(), result) end)
   end
   return result
end

-- Allocates until the injected fault occurs; returns the number of allocations before it.
local function untilFault()
   local storage = ffi.new 'dpt_storage *[1]'
   for taken = 0, MOST do
      if C.dpt_storage_new(storage, C.DPT_U8, 8) ~= 0 then return taken end
      C.dpt_storage_release(storage[0])
   end
   return MOST
end

local M = {runs = 0, offers = {}}

local function check(case, n)
   local fresh = case.make(n)
   local function run(f)
      seed()
      return left(f, n)
   end
   local works, wanted = pcall(run, fresh())
   if not works then
      if n > 1 then return end -- not every module can be split
      error(('wrong: %s on %d devices: %s'):format(case.name, n, wanted), 0)
   end
   local count -- number of allocations
   do
      local f = fresh()
      seed()
      lib.fault_set('malloc:' .. MOST)
      f()
      cutorch.synchronizeAll()
      count = MOST - 1 - untilFault()
      lib.fault_set ''
   end
   for k = 1, count do
      M.runs = M.runs + 1
      local f = fresh()
      cutorch.synchronizeAll()
      seed()
      lib.fault_set('malloc:' .. k)
      local ok, got = pcall(left, f, n)
      lib.fault_set ''
      local function wrong(what)
         error(('wrong: %s on %d devices, allocation %d of %d: %s'):format(case.name, n, k, count,
            what), 0)
      end
      if ok then
         if not same(wanted, got) then wrong 'other results' end
      else
         local bad = judge(got)
         if bad then wrong(bad) end
         for _ = 1, 8 do
            if pcall(cutorch.synchronizeAll) then break end
         end
         local again, after = pcall(run, f)
         if not again then wrong('the next call raises ' .. tostring(after)) end
         if not same(wanted, after) then wrong('the next call has other results, after ' .. got) end
      end
   end
end

local byName = {}
for _, case in ipairs(cases) do byName[case.name] = case end

--- Fails each allocation of a case in turn.
function M.offers.fails(name, n) check(byName[name], n) end

--- All lines, always in the same order.
M.lines = {}
for _, case in ipairs(cases) do
   for _, n in ipairs(case.devices) do
      M.lines[#M.lines + 1] = ('fails(%q, %d)'):format(case.name, n)
   end
end

return M
