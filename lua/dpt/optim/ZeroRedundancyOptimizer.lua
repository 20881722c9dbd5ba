--- optim.ZeroRedundancyOptimizer(method, {group}): shards the state of an optimization method over
-- the ranks (ZeRO, https://arxiv.org/abs/1910.02054, stage 1).
--
--    local adam = optim.ZeroRedundancyOptimizer(optim.adam)
--    adam(opfunc, x, config, state)                       -- on all ranks, as optim.adam
--    torch.save(path, adam:whole(state))                  -- all ranks call whole
--
-- Invariant: each rank updates its part of x with its part of the state, and receives the other
-- parts by one collective. The method must be elementwise; then the results are bitwise equal to
-- those without sharding. A whole state (saved with another number of ranks, or by the method
-- itself) is sharded at the next step; its field zeroPart then identifies the part.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local groups = require 'dpt.distributed.group'
local options = require 'dpt.distributed.options'
local updates = require 'dpt.updates'
local arguments = require 'dpt.optim.arguments'
local counts = require 'dpt.optim.counts'
local scaled = require 'dpt.optim.scaled'
local fail, type = dptffi.fail, dptffi.type

local ZeroRedundancyOptimizer = torch.class 'optim.ZeroRedundancyOptimizer'

local NAME = 'optim.ZeroRedundancyOptimizer'
local WHOLE = {'lbfgs', 'cg', 'FistaLS', 'cmaes', 'de'} -- use all parameters at once
local RATES = {'learningRates', 'weightDecays'} -- one value for each parameter

--- Shards the state of an optimization method over the ranks of a job (ZeRO, stage 1). It is called
-- like the method, with bitwise equal results.
-- @function optim.ZeroRedundancyOptimizer
-- @as optimtool
-- @follows PyTorch's ZeroRedundancyOptimizer
-- @param method function: of optim, or function(opfunc, x, config, state) that treats all elements
--    alike
-- @param options? table: group = of distributed.group, whose ranks share the state (all)
-- @return an optimizer, to be called with opfunc, x, config and state
-- @usage local step, x = optim.ZeroRedundancyOptimizer(optim.sgd), torch.Tensor{2}
--    step(function() return 0, torch.Tensor{1} end, x, {learningRate = 0.5})
--    return x --> [1.5]
function ZeroRedundancyOptimizer:__init(method, given)
   arguments.callable('ZeroRedundancyOptimizer', 'method', method)
   for _, name in ipairs(WHOLE) do
      if method == require 'dpt.optim'[name] then
         fail('%s: optim.%s looks at all parameters at once, wanted an elementwise method such as'
            .. ' sgd or adam', NAME, name)
      end
   end
   self.method, self.group = method, options.check(NAME, given, 2, {group = groups.option}).group
end

-- Returns the group of the ranks that share the state.
local function ranksOf(self) return self.group or groups.world end

-- Returns the first element, from 1, and the length of a rank's part of n elements. The first rank
-- also has the remainder.
local function partOf(n, rank, size)
   local rest = n % size
   local each = (n - rest) / size
   if rank == 0 then return 1, rest + each end
   return rest + rank * each + 1, each
end

-- Calls f(key, tensor) for the tensors of a state, except counts.
local function eachTensor(state, f)
   local keys = {}
   for key, value in next, state do
      if torch.isTensor(value) and not counts.fields[key] then keys[#keys + 1] = key end
   end
   table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
   for _, key in ipairs(keys) do f(key, state[key]) end
end

-- Sends every rank's part of a flat tensor to all others: in place; the remainder is sent
-- separately.
local function share(whole, group)
   local n, size = whole:nElement(), group:size()
   local rest = n % size
   local each = (n - rest) / size
   if rest > 0 then distributed.broadcast(whole:narrow(1, 1, rest), 0, group) end
   if each == 0 then return end
   distributed.allGather(whole:narrow(1, rest + 1, each * size),
      whole:narrow(1, rest + group:rank() * each + 1, each), group, 'parts of ' .. NAME)
end

-- Evaluates opfunc on a rank without a part, as often as rank 0 does. Before each evaluation rank 0
-- sends whether x has moved; an empty list ends the step.
local function follow(x, group, opfunc, scaler, history)
   while true do
      local moved = distributed.broadcastValue(nil, 0, group)[1]
      if moved == nil then return end
      if moved then share(x, group) end
      local fx, gradient = opfunc(x)
      gradient = arguments.gradient('ZeroRedundancyOptimizer', x, gradient)
      if scaler then scaler:_beginStep(gradient) end -- adapts the scale
      history[#history + 1] = fx
   end
end

-- Raises if a state is the part of another rank, saved without `whole`, or may have been sharded
-- elsewhere, as by dpt 1.0.
local function checkPart(state, group)
   local part, rank, ranks = state.zeroPart, group:rank(), group:size()
   if part and (part.rank ~= rank or part.ranks ~= ranks) then
      fail('%s: the state is the part of rank %d of %d, and this is rank %d of %d: save what'
         .. ' whole() returns', NAME, part.rank, part.ranks, rank, ranks)
   end
   if part and not part.first and part.n % ranks > 0 then
      fail('%s: the state is a part as dpt 1.0 cut it: save what whole() returns there', NAME)
   end
end

-- Returns true if the method is a function of optim whose step with a scaler is queued.
local function isQueued(method, x)
   for name in pairs(scaled.kernels) do
      if method == require 'dpt.optim'[name] then return scaled.isQueued(name, x) end
   end
end

--- Does one step of the method. All ranks must call it.
-- @return x, the method's list of values of f (before the step)
function ZeroRedundancyOptimizer:__call__(opfunc, x, config, state)
   arguments.callable('ZeroRedundancyOptimizer', 'opfunc', opfunc)
   arguments.tensor('ZeroRedundancyOptimizer', 'x', x)
   config = arguments.table('ZeroRedundancyOptimizer', 'config', config)
   local group = ranksOf(self)
   local rank, ranks = group:rank(), group:size()
   checkPart(arguments.table('ZeroRedundancyOptimizer', 'state', state or config), group)
   local scaler = scaled.of('ZeroRedundancyOptimizer', config)
   local own = {}
   for key, value in pairs(config) do own[key] = value end
   own.scaler = nil -- all ranks inspect the whole gradient, so that they skip the same steps
   local queued = scaler and isQueued(self.method, x)
   if ranks == 1 then
      if not scaler or queued then return self.method(opfunc, x, config, state) end
      return scaled.step('ZeroRedundancyOptimizer', scaler, self.method, opfunc, x, own,
         state or config)
   end
   if updates.isStale(x) or x:dim() ~= 1 or not x:isContiguous() then
      fail("%s: argument 'x' must be the flat parameters that getParameters returns", NAME)
   end
   state = state or config
   local n = x:nElement()
   local first, count = partOf(n, rank, ranks)
   if not state.zeroPart or state.zeroPart.n ~= n then
      state.zeroPart = {n = n, rank = rank, ranks = ranks, first = first}
   end
   for _, key in ipairs(RATES) do
      if torch.isTensor(own[key]) and own[key]:nElement() == n then
         own[key] = count > 0 and own[key]:narrow(1, first, count) or nil
      end
   end
   local fx, gradient
   local idle, version = n < ranks, comm.version{x}
   local function evaluate()
      local moved = comm.version{x} ~= version
      if idle then moved = distributed.broadcastValue({moved}, 0, group)[1] end
      if moved then share(x, group) end
      fx, gradient = opfunc(x)
      version = comm.version{x}
      gradient = arguments.gradient('ZeroRedundancyOptimizer', x, gradient)
      return fx, gradient:view(-1):narrow(1, first, count)
   end
   eachTensor(state, function(key, t)
      if key ~= RATES[1] and key ~= RATES[2] and t:nElement() == n then -- a whole tensor
         state[key] = count > 0 and t:view(-1):narrow(1, first, count):clone() or nil
      end
   end)
   local history = {}
   if count > 0 then
      local step, runs = evaluate, true
      if scaler then
         local loss, part = evaluate()
         history = {loss}
         if queued then own.scaler = scaler else runs = scaler:prepare(gradient) end
         step = function() -- called after the method has checked its arguments
            if queued then scaler:_inspect(gradient) end
            return loss, part
         end
      end
      if runs then history = select(2, self.method(step, x:narrow(1, first, count), own, state)) end
      if idle then distributed.broadcastValue({}, 0, group) end
   else
      follow(x, group, opfunc, scaler, history)
   end
   share(x, group)
   return x, history
end

-- Returns a tensor of n elements that contains this rank's part.
local function widen(part, like, group, n, first, count)
   local whole = like.new(n)
   if count > 0 then whole:narrow(1, first, count):copy(part) end
   share(whole, group)
   return whole
end

--- Returns the state of all ranks as the state of one process, on every rank. All ranks must call
-- it.
-- @function optim.ZeroRedundancyOptimizer:whole
-- @as optimtool
-- @follows PyTorch's ZeroRedundancyOptimizer.consolidate_state_dict
-- @param state table: passed to the steps (or the config, if there was none)
-- @return a new table
-- @usage local step, x, state = optim.ZeroRedundancyOptimizer(optim.sgd), torch.Tensor{2},
--       {}
--    step(function() return 0, torch.Tensor{1} end, x, {}, state)
--    return step:whole(state).evalCounter --> 1
function ZeroRedundancyOptimizer:whole(state)
   if type(state) ~= 'table' then
      fail('%s: whole wants the table of the state as argument 1, got %s', NAME, torch.type(state))
   end
   local part, copy, tensors, numbers = state.zeroPart, {}, {}, {}
   for key, value in next, state do copy[key] = value end
   counts.settle(copy)
   if not part then return copy end
   local group = ranksOf(self)
   checkPart(state, group)
   copy.zeroPart = nil
   local n = part.n
   local first, count = partOf(n, group:rank(), group:size())
   eachTensor(copy, function(key, t)
      if t:nElement() == count and count > 0 then tensors[#tensors + 1] = {key, t:type()} end
   end)
   for key, value in next, copy do
      if type(value) == 'number' then numbers[key] = value end
   end
   -- a rank without a part has no counts: it receives rank 0's, and the keys of rank 0's tensors
   tensors, numbers = unpack(distributed.broadcastValue({tensors, numbers}, 0, group))
   for key, value in pairs(numbers) do copy[key] = value end
   for _, one in ipairs(tensors) do
      local key, kind = unpack(one)
      local own = state[key]
      local like = own or torch.getmetatable(kind).new()
      local device = own and comm.device(own) or 0
      copy[key] = device > 0
         and cutorch.withDevice(device, widen, own, like, group, n, first, count)
         or widen(own, like, group, n, first, count)
   end
   return copy
end

return ZeroRedundancyOptimizer
