--- dpt.nn.DistributedDataParallel.join: loops over batches whose number differs between ranks.
--
-- Invariant: while any rank has a batch, all ranks run the loop; ranks without one get a batch
-- without rows. So all ranks take the same steps, the optimizer's included, and send the same
-- messages.
local torch = require 'dpt.tensor'
local distributed = require 'dpt.distributed'
local splitSpec = require 'dpt.parallel.split.split_spec'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local join = {}

-- Describes a value without its rows, in tables that can be sent. `how` is the value's split spec;
-- `dimension` is the dimension of rows of tensors for which the spec names none.
local function describe(value, how, dimension)
   if how == 'replicate' then return {value = value} end
   if torch.isTensor(value) then
      local sizes, along = value:size():totable(), type(how) == 'number' and how or dimension
      if how == 'list' then sizes = {0}
      elseif #sizes > 0 then sizes[along <= #sizes and along or 1] = 0 end
      return {type = value:type(), sizes = sizes}
   elseif torch.type(value) == 'table' then
      local inner = {}
      for key, v in pairs(how == 'list' and {} or value) do
         inner[key] = describe(v, splitSpec.at(how, key), dimension)
      end
      return {inner = inner}
   end
   return {value = value}
end

local function make(described)
   if described.type then
      return torch.getmetatable(described.type).new(unpack(described.sizes))
   elseif described.inner then
      local value = {}
      for key, v in pairs(described.inner) do value[key] = make(v) end
      return value
   end
   return described.value
end

--- Iterates over batches until no rank has any left: `for input, target in net:join(batches)`; it
-- accepts the three values of a generic for. A rank whose batches are used up gets batches without
-- rows. All ranks must call it.
-- @function nn.DistributedDataParallel:join
-- @as ofranks
-- @param f function: an iterator as in a generic for; returns the next batch, its input first, or
--    nil
-- @param state? any: f's first argument
-- @param control? any: f's second argument
-- @return an iterator for a for loop
-- @usage local net, n = nn.DistributedDataParallel(nn.Linear(2, 1)), 0
--    local batches = {torch.ones(1, 2), torch.ones(1, 2)}
--    local i = 0
--    for x in net:join(function() i = i + 1 return batches[i] end) do
--       net:forward(x)
--       n = n + 1
--    end
--    return n --> 2
function join:join(f, state, control)
   if type(f) ~= 'function' then
      dptffi.fail('nn.DistributedDataParallel: join wants a function as argument 1, got %s',
         torch.type(f))
   end
   if self.ranks == 1 then return f, state, control end
   local model, ended -- the last batch's description; true after the end
   local function step()
      local batch = ended and {} or {f(state, control)}
      local input = batch[1]
      control, ended = input, input == nil
      if not ended then
         local how = self:inputSplit(input)
         local along = self.parallelTable and self.parallelTable.dimension or 1
         model = {n = table.maxn(batch), describe(input, how, along)}
         for i = 2, model.n do model[i] = describe(batch[i], nil, 1) end
      end
      local root, unknown = nil, false
      for r, numbers in ipairs(self:_allGatherNumbers{ended and 0 or 1, model and 1 or 0}) do
         if numbers[1] == 1 then root = root or r - 1 end
         unknown = unknown or numbers[2] == 0
      end
      if not root then return nil end
      if unknown then
         local theirs = distributed.broadcastValue(model or false, root, self.group)
         model = model or theirs
      end
      if not ended then return unpack(batch, 1, model.n) end
      for i = 1, model.n do batch[i] = make(model[i]) end
      return unpack(batch, 1, model.n)
   end
   return function() return distributed.during('nn.DistributedDataParallel:join', step) end
end

return join
