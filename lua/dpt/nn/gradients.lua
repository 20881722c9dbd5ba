--- dpt.nn.gradients: collects the gradients of a module, without duplicates, and clips their norm
-- or their values.
--
-- Invariant: gradients that replicas or ranks have not reduced yet (noSync) are reduced before use.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local flatten = require 'dpt.flatten'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local M = {}

-- Returns views that cover every element of the tensors exactly once.
local function viewsOf(tensors, fn)
   local types, views = {}, {} -- tensors by type; their types in order
   for i, t in ipairs(tensors) do
      if not torch.isTensor(t) then
         fail("%s: argument 'gradients' has a %s at entry %d, wanted a tensor", fn,
            torch.type(t), i)
      end
      local name = t:type()
      if not types[name] then
         types[name], types[#types + 1] = {}, name
      end
      table.insert(types[name], t)
   end
   for _, name in ipairs(types) do
      for _, view in ipairs(flatten.layout(types[name]).segments) do views[#views + 1] = view end
   end
   return views
end

local function sync(module)
   if module.syncGradients then return module:syncGradients() end
   for _, child in ipairs(module.modules or {}) do sync(child) end
end

--- Returns views that cover every element of a module's gradients exactly once.
function M.of(module)
   sync(module)
   local parameters, all = module:parameters()
   local gradients = {}
   for i = 1, parameters and all and #parameters or 0 do
      gradients[#gradients + 1] = all[i] or nil
   end
   return viewsOf(gradients)
end

local function checkAboveZero(fn, name, value)
   if type(value) == 'number' and value > 0 then return end
   fail("%s: argument '%s' is %s, wanted a number above 0", fn, name,
      value and tostring(value) or 'missing')
end

-- Returns views of the gradients of a module, of a tensor, or of a list of tensors.
local function viewsFrom(fn, gradients)
   if torch.isTypeOf(gradients, 'nn.Module') then
      return gradients:_gradientViews()
   elseif torch.isTensor(gradients) then
      gradients = {gradients}
   elseif type(gradients) ~= 'table' then
      fail("%s: argument 'gradients' is a %s, wanted a module, a tensor or a list of tensors", fn,
         torch.type(gradients))
   end
   return viewsOf(gradients, fn)
end

-- Returns the largest absolute value, or NaN if any element is NaN.
local function maximum(views)
   local most = 0
   for _, t in ipairs(views) do
      if t:nElement() > 0 then
         local high, low = t:max(), t:min()
         if high ~= high then return high end
         most = math.max(most, high, -low)
      end
   end
   return most
end

local function normOf(views, normType)
   if normType == math.huge then return maximum(views) end
   local sum = 0
   for _, t in ipairs(views) do sum = sum + t:norm(normType) ^ normType end
   return sum ^ (1 / normType)
end

-- Returns the norm of a vector as a tensor of one element, of its type and on its device.
local function partOf(t, normType)
   if normType ~= math.huge then return t:norm(normType, 1) end
   return (t:max(1)):cmax(t:min(1):mul(-1)) -- NaN if an element is NaN
end

local function scale(t, factor)
   t:cmul((t:nElement() == 1 and factor or factor:expand(t:nElement())))
end

-- Writes the norm to `result`, and scales the views, by operations that are only queued.
local function clipQueued(views, maxNorm, normType, result)
   local norm = result:resize(1):zero()
   for _, t in ipairs(views) do
      if t:nElement() > 0 then
         local part = norm.new(1):copy(cutorch.withDeviceOf(t, partOf, t, normType))
         if #views == 1 then
            norm:copy(part)
         elseif normType == math.huge then
            norm:copy(torch.where(norm:ne(norm), norm, torch.cmax(norm, part))) -- keeps a NaN
         else
            norm:add(part:pow(normType))
         end
      end
   end
   if #views > 1 and normType ~= math.huge then norm:pow(1 / normType) end
   local factor = torch.add(norm, 1e-6):cinv():mul(maxNorm)
   -- 1 if the norm is small, infinite or NaN
   factor = torch.where(factor:lt(1):cmul(norm:lt(math.huge)), factor, 1)
   for _, t in ipairs(views) do
      if t:nElement() > 0 then
         cutorch.withDeviceOf(t, function() scale(t, t.new(1):copy(factor)) end)
      end
   end
   return norm
end

--- Scales views in place so that their total norm is at most maxNorm.
-- @return the norm before scaling
function M.clip(views, maxNorm, normType, result)
   normType = normType == nil and 2 or normType
   checkAboveZero('clipGradNorm', 'maxNorm', maxNorm)
   checkAboveZero('clipGradNorm', 'normType', normType)
   if result ~= nil then
      if not torch.isTensor(result) or not core.realNames[result.kind_] then
         fail("clipGradNorm: argument 'result' is a %s, wanted a tensor of real numbers",
            torch.type(result))
      end
      return cutorch.withDeviceOf(result, clipQueued, views, maxNorm, normType, result)
   end
   local norm = normOf(views, normType)
   local factor = maxNorm / (norm + 1e-6)
   if factor < 1 and norm < math.huge then
      for _, t in ipairs(views) do t:mul(factor) end
   end
   return norm
end

--- Scales gradients in place so that their total norm is at most maxNorm. The factor is min(1,
-- maxNorm / (norm + 1e-6)). Gradients whose norm is infinite or NaN do not change. An element that
-- several gradients share counts once.
-- @function nn.utils.clipGradNorm
-- @within nn containers
-- @follows PyTorch's torch.nn.utils.clip_grad_norm_
-- @param gradients module: clips its gradients, on all devices and ranks; or a tensor, as
-- getParameters returns, or a list of tensors
-- @param maxNorm number: upper bound of the norm, above 0
-- @param normType? number: exponent of the norm (2); math.huge: the largest absolute value
-- @param result? tensor: receives the norm as its only element, and is returned. If it is on a
--    device (that of the gradients is best), nothing waits for a device.
-- @return the norm before scaling, a number, or `result`
-- @raise if an argument has the wrong type or is not above 0
-- @usage local gradients = {torch.Tensor{3}, torch.FloatTensor{-4}}
--    return nn.utils.clipGradNorm(gradients, 1), gradients[1] --> 5, [0.6]
function M.clipGradNorm(gradients, maxNorm, normType, result)
   if torch.isTypeOf(gradients, 'nn.Module') then
      return gradients:clipGradNorm(maxNorm, normType, result)
   end
   return M.clip(viewsFrom('clipGradNorm', gradients), maxNorm, normType, result)
end

--- Clips each element of the gradients in place to the range from -value to value; NaN does not
-- change. Waits for no device.
-- @function nn.utils.clipGradValue
-- @within nn containers
-- @follows PyTorch's torch.nn.utils.clip_grad_value_
-- @param gradients module: clips its gradients, on all devices and ranks; or a tensor, as
-- getParameters returns, or a list of tensors
-- @param value number: above 0
-- @return nothing
-- @raise if an argument has the wrong type or the value is not above 0
-- @usage local gradients = torch.Tensor{3, -0.5, -4}
--    nn.utils.clipGradValue(gradients, 1)
--    return gradients --> [1 -0.5 -1]
function M.clipGradValue(gradients, value)
   checkAboveZero('clipGradValue', 'value', value)
   for _, t in ipairs(viewsFrom('clipGradValue', gradients)) do t:clamp(-value, value) end
end

return M
