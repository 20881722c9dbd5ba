--- optim.ema(x, decay, state): exponential moving average of flat parameters.
-- Invariant: state.average has the type that x is computed in (float for a reduced type) and is on
-- the device of x; state.n counts the updates. state.saved has the parameters while x has the
-- averages. Updates after the first one allocate nothing.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local arguments = require 'dpt.optim.arguments'
local onDevice = require 'dpt.optim.on_device'
local stateOf = require 'dpt.optim.state'
local fail = require('dpt.ffi').fail

local classes = {} -- not a field of optim
local EMA = torch.class('optim.EMA', classes)
EMA._internal = true

function EMA:__init(x, decay, state)
   arguments.fresh('ema', 'x', x)
   decay = arguments.number('ema', 'decay', decay or 0.999)
   if not (decay >= 0 and decay <= 1) then
      fail("optim.ema: argument 'decay' is %s, wanted a number from 0 to 1", tostring(decay))
   end
   state = arguments.table('ema', 'state', state)
   local isNew = state.average == nil
   local average = stateOf.tensor('ema', state, 'average', x)
   if isNew then average:copy(x) end
   if state.saved ~= nil then stateOf.tensor('ema', state, 'saved', x) end
   state.n = isNew and 0 or arguments.number('ema', 'n', state.n)
   self.x, self.decay, self.state = x, decay, state
end

local update = onDevice(function(x, decay, state)
   local kind = core.computeKind(x.kind_)
   local wide = x.kind_ == kind and x or stateOf.buffer(state, 'x', x, kind, x)
   if state.n == 0 then
      state.average:copy(wide)
   else
      state.average:lerp(wide, 1 - decay)
   end
   state.n = state.n + 1
end, 0)

function EMA:update()
   if self.state.saved ~= nil then
      fail 'optim.ema: update: x holds the averages, wanted the parameters; call swap before'
   end
   arguments.fresh('ema', 'x', self.x)
   update(self.x, self.decay, self.state)
   return self
end

local swap = onDevice(function(x, state)
   if state.saved ~= nil then
      x:copy(state.saved)
      state.saved = nil
   else
      state.saved = x:clone()
      x:copy(state.average)
   end
end, 0)

function EMA:swap()
   arguments.fresh('ema', 'x', self.x)
   swap(self.x, self.state)
   return self
end

--- Keeps an exponential moving average of parameters. ema:update(), after each step, sets the
-- average to decay * average + (1 - decay) * x; the first update copies x. ema:swap() writes the
-- averages to x, for an evaluation; the next call writes the parameters back. Save ema.state in
-- checkpoints and pass it to continue.
-- @function optim.ema
-- @within optim
-- @param x tensor: the flat parameters, as getParameters returns; the average of halves and
--    bfloat16 is in float
-- @param decay? number: from 0 to 1 (0.999)
-- @param state? table: of an earlier average, to be continued
-- @return an object with the methods update and swap, which return the object, and the field state:
--    average (tensor), n (number of updates), saved (tensor, between two calls of swap)
-- @raise if x is not a tensor or its memory is no longer that of a network, the decay is out of
--    range, the state has another size, or update is called while x holds the averages
-- @follows PyTorch's torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn
-- @usage local x = torch.Tensor{1}
--    local ema = optim.ema(x, 0.75)
--    for i = 1, 2 do
--       x:add(4)
--       ema:update()
--    end
--    ema:swap()
--    return x:clone(), ema:swap().x --> [6], [9]
return function(x, decay, state) return classes.EMA(x, decay, state) end
