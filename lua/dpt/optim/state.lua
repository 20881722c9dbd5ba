--- dpt.optim.state: tensors that optimization methods keep for x: their state, and buffers.
-- Invariant: the tensors of a state have the type that x is computed in (its own, or float for a
-- reduced type), and the device and the number of elements of x. A tensor of another type or device
-- (loaded from a file, or after the parameters have moved) is converted once. Buffers are not part
-- of the state, so files do not contain them.
local core = require 'dpt.tensor.core'
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local arguments = require 'dpt.optim.arguments'
local C, fail = dptffi.C, dptffi.fail

local isTensor, describe = torch.isTensor, arguments.describe
local M = {}

local function isLike(t, kind, x)
   return t.kind_ == kind and C.dpt_tensor_device(t) == C.dpt_tensor_device(x)
end

--- Returns a tensor of the state; allocates or converts it if needed.
-- @param name string: the method
-- @param state table: the state, or a list in it
-- @param key any: the field
-- @param x tensor: the parameters, or their gradient
-- @param value? number: fills a new tensor (0)
-- @param label? string: the field's name in messages (key)
-- @return the tensor
function M.tensor(name, state, key, x, value, label)
   local t, kind = state[key], core.computeKind(x.kind_)
   if isTensor(t) and t:nElement() == x:nElement() and isLike(t, kind, x) then return t end
   arguments.notCaptured(name)
   if t == nil then
      t = core.newTensor(kind):resizeAs(x):fill(value or 0)
   elseif not isTensor(t) or t:nElement() ~= x:nElement() then
      fail("optim.%s: the state '%s' is %s, wanted %s as x", name, label or key, describe(t),
         describe(x))
   else
      t = core.newTensor(kind):resizeAs(t):copy(t)
   end
   state[key] = t
   return t
end

local buffers = setmetatable({}, {__mode = 'k'}) -- by state: tensors by name

--- Copies a tensor into a buffer of the state.
-- @param state table: the state
-- @param key string: the buffer
-- @param t tensor: source
-- @param kind number: kind of the buffer
-- @param x tensor: determines the device
-- @return the buffer, of t's size
function M.buffer(state, key, t, kind, x)
   local own = buffers[state] or {}
   buffers[state] = own
   if not own[key] or not isLike(own[key], kind, x) then own[key] = core.newTensor(kind) end
   return own[key]:resizeAs(t):copy(t)
end

--- Returns the factors of the config for each parameter, of any type, as a tensor of the state's
-- type; nil if there are none.
function M.factors(name, config, key, x, state)
   local t, kind = config[key], core.computeKind(x.kind_)
   if not t then return nil end
   if not isTensor(t) or t:nElement() ~= x:nElement() then
      arguments.reject(name, key, t, ('a tensor of %d elements as x'):format(x:nElement()))
   end
   return isLike(t, kind, x) and t or M.buffer(state, key, t, kind, x)
end

return M
