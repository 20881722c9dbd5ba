--- optim.LossScaler: scales the loss, so that gradients computed in half do not underflow.
--
-- Invariant: between two steps all gradients have the same scale, and a step divides the gradient
-- once. A step whose gradient has an infinity or a NaN changes nothing but the scaler. The scale is
-- a float above 0. Buffers are not part of the scaler, so files do not contain them.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local denominators = require 'dpt.nn.denominators'
local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'
local dptffi = require 'dpt.ffi'
local ffi, fail, type = dptffi.ffi, dptffi.fail, dptffi.type

local LossScaler = torch.class 'optim.LossScaler'

local DEFAULTS = {scale = 65536, growth = 2, backoff = 0.5, every = 2000}
local LEAST = 2 ^ -126 -- the smallest normal float

-- Returns a number rounded to float.
local function float(value) return tonumber(ffi.cast('float', value)) end

local scratch = setmetatable({}, {__mode = 'k'}) -- by scaler: {scaled = , norm = }

local function scratchOf(self)
   scratch[self] = scratch[self] or {}
   return scratch[self]
end

-- Raises unless a setting is within its range.
local function check(settings, key, isGood, wanted)
   if not isGood then
      fail("optim.LossScaler: setting '%s' is %s, wanted %s", key, tostring(settings[key]), wanted)
   end
end

--- Scales the loss for training in half (HalfTensor), whose smallest numbers are too large for many
-- gradients. The optimization method (sgd, adam, adamw, adamax, adagrad, adadelta, rmsprop, asgd
-- or optim.ZeroRedundancyOptimizer) receives the scaler as its setting `scaler`. It divides the
-- gradient by the scale, and skips the step if the gradient has an infinity or a NaN. The scale
-- decreases after a skipped step, and increases after a number of other steps. A step waits for the
-- norm of the gradient. Use one scaler for each vector of parameters.
-- @function optim.LossScaler
-- @as optimtool
-- @follows PyTorch's torch.amp.GradScaler
-- @param settings? table: scale (65536: the first scale), growth (2: factor of the scale after
--    `every` steps in a row that were not skipped), backoff (0.5: factor after a skipped step),
--    every (2000)
-- @return a scaler
-- @raise if a setting is unknown or out of range: scale and growth - 1 must be above 0, backoff
--    between 0 and 1, every a whole number from 1
-- @usage local scaler, x = optim.LossScaler{scale = 4}, torch.FloatTensor{1}
--    for _, gradient in ipairs{2, 1 / 0, 2} do
--       optim.sgd(function()
--          return 0, scaler:scale(torch.FloatTensor{gradient})
--       end, x, {learningRate = 0.25, scaler = scaler})
--    end
--    return x, scaler:getScale(), scaler:skipped() --> [0], 2, 1
function LossScaler:__init(settings)
   settings = arguments.table('LossScaler', 'settings', settings)
   local own = {}
   for key, value in pairs(DEFAULTS) do own[key] = value end
   for key, value in pairs(settings) do
      if not DEFAULTS[key] then
         fail("optim.LossScaler: setting '%s' is unknown, wanted scale, growth, backoff or every",
            tostring(key))
      end
      own[key] = tonumber(value)
      check(settings, key, own[key], 'a number')
   end
   check(own, 'scale', own.scale >= LEAST and float(own.scale) < math.huge,
      'a positive float')
   check(own, 'growth', own.growth > 1 and own.growth < math.huge, 'a number above 1')
   check(own, 'backoff', own.backoff > 0 and own.backoff < 1, 'a number between 0 and 1')
   check(own, 'every', own.every >= 1 and own.every % 1 == 0, 'a whole number from 1')
   self.current, self.growth = float(own.scale), own.growth
   self.backoff, self.every = own.backoff, own.every
   self.streak, self.skips = 0, 0 -- steps in a row that were not skipped; skipped steps
end

local multiply

-- Returns a gradient times a factor, in a buffer of a list.
local function scaled(list, key, gradient, factor)
   if torch.isTensor(gradient) then
      local own = list[key]
      if not torch.isTensor(own) or own.kind_ ~= gradient.kind_ then
         own = core.newTensor(gradient.kind_)
      end
      list[key] = cutorch.withDeviceOf(gradient, multiply, own, gradient, factor)
   elseif type(gradient) == 'table' then
      local own = type(list[key]) == 'table' and not torch.isTensor(list[key]) and list[key] or {}
      for inner in pairs(own) do
         if gradient[inner] == nil then own[inner] = nil end
      end
      for inner, value in pairs(gradient) do scaled(own, inner, value, factor) end
      list[key] = own
   else
      arguments.reject('LossScaler', 'gradOutput', gradient, 'a tensor or a table of tensors')
   end
   return list[key]
end

function multiply(own, gradient, factor) return own:mul(gradient, factor) end

-- Records the divisors of a gradient for its scaled copy: entries last, since a view of one has the
-- divisors that were recorded last in its storage.
local function propagate(result, gradient)
   denominators.propagate(result, denominators.find(gradient))
   if torch.isTensor(gradient) then return end
   for key, value in pairs(gradient) do propagate(result[key], value) end
end

--- Scales the gradient of the loss with respect to the output of a network, for the network's
-- backward.
-- @function optim.LossScaler:scale
-- @as optimtool
-- @follows PyTorch's torch.amp.GradScaler.scale, which scales the loss
-- @param gradOutput tensor or table: of tensors or such tables, as a criterion's backward returns
-- @return gradOutput times the scale, in a buffer that the next call overwrites
-- @usage optim.LossScaler{scale = 8}:scale(torch.Tensor{2}) --> [16]
function LossScaler:scale(gradOutput)
   local result = scaled(scratchOf(self), 'scaled', gradOutput, self.current)
   if denominators.enabled then propagate(result, gradOutput) end
   return result
end

-- Computes the norm of a scaled gradient and returns true if it is finite.
local function inspect(self, gradient)
   local own = scratchOf(self)
   local kind = core.computeKind(gradient.kind_)
   local wide = kind == gradient.kind_ and gradient
      or stateOf.buffer(own, 'wide', gradient, kind, gradient)
   own.norm = (wide:isContiguous() and wide or wide:clone()):view(-1):norm(2, 1)
   local norm = own.norm[1]
   own.norm:mul(1 / self.current)
   return math.abs(norm) < math.huge
end

--- Divides the gradient of all parameters by the scale before the step, for example to clip it. The
-- next step does not divide it again. If the gradient has an infinity or a NaN, it remains as it
-- is, and the next step is skipped. Gradients that are pending (noSync) must be reduced before.
-- @function optim.LossScaler:unscale
-- @as optimtool
-- @follows PyTorch's torch.amp.GradScaler.unscale_
-- @param gradient tensor: the gradient; it is divided in place
-- @return the gradient
-- @raise if it is called twice before a step, or the gradient is in half, where it would underflow
-- @usage optim.LossScaler{scale = 8}:unscale(torch.FloatTensor{16}) --> [2]
function LossScaler:unscale(gradient)
   if not torch.isTensor(gradient) or not core.elementOf(gradient.kind_).isReal
      or gradient:type():find 'Half' then
      arguments.reject('LossScaler', 'gradient', gradient, 'a tensor of floats')
   end
   if self.isFinite ~= nil then
      fail 'optim.LossScaler: unscale was called twice before a step'
   end
   self.isFinite = cutorch.withDeviceOf(gradient, inspect, self, gradient)
   return self.isFinite and gradient:mul(1 / self.current) or gradient
end

--- Prepares a step for optimizers that do not have the setting `scaler`: divides the gradient by
-- the scale unless unscale has done that, and adapts the scale.
-- @function optim.LossScaler:prepare
-- @as optimtool
-- @follows PyTorch's torch.amp.GradScaler.step and update
-- @param gradient tensor: the whole gradient of the parameters; it is divided in place
-- @return a boolean: false if the step must be skipped
-- @raise if the gradient is in half
-- @usage optim.LossScaler():prepare(torch.FloatTensor{1}) --> true
-- @usage optim.LossScaler():prepare(torch.FloatTensor{1 / 0}) --> false
function LossScaler:prepare(gradient)
   if self.isFinite == nil then self:unscale(gradient) end
   local isFinite = self.isFinite
   self.isFinite = nil
   if isFinite then
      self.streak = self.streak + 1
      if self.streak >= self.every then
         local larger = float(self.current * self.growth)
         self.current, self.streak = larger < math.huge and larger or self.current, 0
      end
   else
      self.current = math.max(float(self.current * self.backoff), LEAST)
      self.streak, self.skips = 0, self.skips + 1
   end
   return isFinite
end

--- Returns the scale of the next step.
-- @function optim.LossScaler:getScale
-- @as optimtool
-- @follows PyTorch's torch.amp.GradScaler.get_scale
-- @return a number
-- @usage optim.LossScaler{scale = 8}:getScale() --> 8
function LossScaler:getScale() return self.current end

--- Returns the number of steps that were skipped.
-- @function optim.LossScaler:skipped
-- @as optimtool
-- @return a number
-- @usage optim.LossScaler():skipped() --> 0
function LossScaler:skipped() return self.skips end

--- Returns the norm of the last gradient, divided by the scale.
-- @function optim.LossScaler:norm
-- @as optimtool
-- @return a tensor of one element on the device of the gradient; nil before the first step
-- @usage local scaler = optim.LossScaler{scale = 2}
--    scaler:unscale(torch.FloatTensor{6, 8})
--    return scaler:norm() --> [5]
function LossScaler:norm() return scratchOf(self).norm end

return LossScaler
