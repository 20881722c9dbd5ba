--- dpt.nn.gradients: collects the gradients of a module, without duplicates, and clips their norm
-- or their values.
--
-- Invariant: gradients that replicas or ranks have not reduced yet (noSync) are reduced before use.
local torch = require 'dpt.tensor'
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

--- Scales views in place so that their total norm is at most maxNorm.
-- @return the norm before scaling
function M.clip(views, maxNorm, normType)
   normType = normType == nil and 2 or normType
   checkAboveZero('clipGradNorm', 'maxNorm', maxNorm)
   checkAboveZero('clipGradNorm', 'normType', normType)
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
-- @return the norm before scaling
-- @raise if an argument has the wrong type or is not above 0
-- @usage local gradients = {torch.Tensor{3}, torch.FloatTensor{-4}}
--    return nn.utils.clipGradNorm(gradients, 1), gradients[1] --> 5, [0.6]
function M.clipGradNorm(gradients, maxNorm, normType)
   if torch.isTypeOf(gradients, 'nn.Module') then
      return gradients:clipGradNorm(maxNorm, normType)
   end
   return M.clip(viewsFrom('clipGradNorm', gradients), maxNorm, normType)
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
