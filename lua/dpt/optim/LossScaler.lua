--- optim.LossScaler: scales the loss, so that gradients computed in half do not underflow.
--
-- Invariant: between two steps all gradients have the same scale, and a step divides the gradient
-- once. A step whose gradient has an infinity or a NaN changes nothing but the scaler. The scale is
-- a float above 0. From the first step on the scaler's state is the vector `numbers`
-- (dpt_scaler_step in csrc/dpt.h) on the device of the gradient, or in host memory if that device
-- lacks the kernels; `inspected` is true from the inspection of a gradient to its step. Files
-- contain Lua numbers instead, and no buffers. scaled.lua says which steps wait.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local captured = require 'dpt.device.captured'
local denominators = require 'dpt.nn.denominators'
local arguments = require 'dpt.optim.arguments'
local scaled = require 'dpt.optim.scaled'
local stateOf = require 'dpt.optim.state'
local dptffi = require 'dpt.ffi'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local LossScaler = torch.class 'optim.LossScaler'

local DEFAULTS = {scale = 65536, growth = 2, backoff = 0.5, every = 2000}
local LEAST = 2 ^ -126 -- the smallest normal float

-- Returns a number rounded to float.
local function float(value) return tonumber(ffi.cast('float', value)) end

-- Positions in numbers, which are {scale, factor, finite, streak, skips}.
local SCALE, FACTOR = C.DPT_SCALER_SCALE + 1, C.DPT_SCALER_FACTOR + 1

local NOTED = {'numbers'} -- fields that a captured graph depends on

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
-- decreases after a skipped step, and increases after a number of other steps. Use one scaler for
-- each vector of parameters.
--
-- On a device, steps of sgd, adam and adamw do not wait (on GPUs only with `DPT_CUDA_NEW=1`): the
-- kernels read the scale and skip the step. The count of steps is then in the tensor
-- state.evalCounterOnDevice or state.tOnDevice; reading state.evalCounter or state.t waits for it,
-- assigning one begins a new count, and a state that was just loaded from a file has them after
-- its next step. Steps of the other methods wait for the norm of the gradient.
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

-- Returns the vector of numbers in the memory that steps of x read; copies it there if needed.
local function numbersOn(self, x)
   local isThere = scaled.hasKernels(x)
   local device, numbers = isThere and C.dpt_tensor_device(x) or 0, self.numbers
   if numbers and C.dpt_tensor_device(numbers) == device then return numbers end
   numbers = numbers
      or torch.DoubleTensor{self.current, 1, self.finite or 1, self.streak, self.skips}
   self.numbers = core.newTensor(core.DOUBLE + (isThere and core.ON_DEVICE or 0))
      :resize(C.DPT_SCALER_NUMBERS):copy(numbers)
   return self.numbers
end

-- Returns the scale, the number of steps in a row that were not skipped, the number of skipped
-- steps, and whether the last gradient was finite (1 or 0); waits for the device.
local function read(self)
   if not self.numbers then return self.current, self.streak, self.skips, self.finite end
   local scale, _, finite, streak, skips = unpack(self.numbers:totable())
   return scale, streak, skips, finite
end

-- Write all fields, with Lua numbers for the vector, and read them; writing waits for the device.
function LossScaler:__write(file)
   local fields = {}
   for key, value in next, self do fields[key] = value end
   fields.current, fields.streak, fields.skips, fields.finite = read(self)
   fields.numbers = nil
   file:writeFields(fields)
end
function LossScaler:__read(file) file:readFields(self) end

-- Computes r = x * numbers[position]. Waits only if one of x and numbers is on a device and the
-- other in host memory, or x contains integers.
local function multiply(self, r, x, position)
   local numbers = self.numbers
   if numbers and (numbers.kind_ < core.ON_DEVICE) == (x.kind_ < core.ON_DEVICE)
      and core.elementOf(x.kind_).isReal then
      local factor = numbers:narrow(1, position, 1)
      if C.dpt_tensor_device(numbers) ~= C.dpt_tensor_device(x) then
         factor = core.newTensor(numbers.kind_):resize(1):copy(factor)
      end
      lib.scale_by(r, x, factor)
      return r
   end
   if x.kind_ >= core.ON_DEVICE and C.dpt_graph_capturing() ~= 0 then
      lib.graph_reject('optim.LossScaler', 'its scale is in host memory (take a step before)')
   end
   return r:mul(x, numbers and numbers[position] or self.current)
end

-- Returns a gradient times the scale, in a buffer of a list.
local function scaleInto(self, list, key, gradient)
   if torch.isTensor(gradient) then
      local own = list[key]
      if not torch.isTensor(own) or own.kind_ ~= gradient.kind_
         or C.dpt_tensor_device(own) ~= C.dpt_tensor_device(gradient) then
         own = core.newTensor(gradient.kind_)
      end
      list[key] = cutorch.withDeviceOf(gradient, multiply, self, own, gradient, SCALE)
   elseif type(gradient) == 'table' then
      local own = type(list[key]) == 'table' and not torch.isTensor(list[key]) and list[key] or {}
      for inner in pairs(own) do
         if gradient[inner] == nil then own[inner] = nil end
      end
      for inner, value in pairs(gradient) do scaleInto(self, own, inner, value) end
      list[key] = own
   else
      arguments.reject('LossScaler', 'gradOutput', gradient, 'a tensor or a table of tensors')
   end
   return list[key]
end

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
   local result = scaleInto(self, scratchOf(self), 'scaled', gradOutput)
   if denominators.enabled then propagate(result, gradOutput) end
   return result
end

-- Computes the norm of a scaled gradient, and updates the scaler by it.
local function inspect(self, gradient)
   local own, numbers = scratchOf(self), numbersOn(self, gradient)
   local kind = core.computeKind(gradient.kind_)
   local wide = kind == gradient.kind_ and gradient
      or stateOf.buffer(own, 'wide', gradient, kind, gradient)
   local flat = (wide:isContiguous() and wide or wide:clone()):view(-1)
   captured.set(own, 'norm', flat:norm(2, 1))
   local isHere = (numbers.kind_ < core.ON_DEVICE) == (kind < core.ON_DEVICE)
   local norm = isHere and own.norm or own.norm:double()
   lib.scaler_step(numbers, norm, self.growth, self.backoff, self.every)
   if not isHere then own.norm:copy(norm) end
   captured.note('optim.LossScaler', self, NOTED)
end

--- Adapts the scale to the gradient of the next step, unless unscale has done that.
-- @param gradient tensor: the whole gradient of the parameters; it is not divided
function LossScaler:_inspect(gradient)
   if not self.inspected then cutorch.withDeviceOf(gradient, inspect, self, gradient) end
   captured.set(self, 'inspected', true)
end

--- Begins a step of kernels that divide the gradient and skip the step if it is not finite.
-- @param gradient tensor: the gradient; the whole one unless _inspect was called
-- @return the numbers for the kernels (dpt_sgd_mixed in csrc/dpt.h), on the gradient's device
function LossScaler:_beginStep(gradient)
   self:_inspect(gradient)
   captured.set(self, 'inspected', nil)
   return numbersOn(self, gradient)
end

local function divide(self, gradient)
   multiply(self, gradient, gradient, FACTOR)
   self.numbers:narrow(1, FACTOR, 1):fill(1) -- the step does not divide again
end

--- Divides the gradient of all parameters by the scale before the step, for example to clip it, and
-- adapts the scale. The next step does not divide it again. If the gradient has an infinity or a
-- NaN, it remains as it is, and the next step is skipped. Gradients that are pending (noSync) must
-- be reduced before. Does not wait on devices with the kernels of optim.LossScaler.
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
   if self.inspected then fail 'optim.LossScaler: unscale was called twice before a step' end
   self:_inspect(gradient)
   cutorch.withDeviceOf(gradient, divide, self, gradient)
   return gradient
end

--- Prepares a step for optimizers that do not have the setting `scaler`: divides the gradient by
-- the scale and adapts the scale, unless unscale has done that. Waits for the norm of the gradient.
-- @function optim.LossScaler:prepare
-- @as optimtool
-- @follows PyTorch's torch.amp.GradScaler.step and update
-- @param gradient tensor: the whole gradient of the parameters; it is divided in place
-- @return a boolean: false if the step must be skipped
-- @raise if the gradient is in half
-- @usage optim.LossScaler():prepare(torch.FloatTensor{1}) --> true
-- @usage optim.LossScaler():prepare(torch.FloatTensor{1 / 0}) --> false
function LossScaler:prepare(gradient)
   if not self.inspected then self:unscale(gradient) end
   captured.set(self, 'inspected', nil)
   return select(4, read(self)) == 1
end

--- Returns the scale of the next step; waits for the device.
-- @function optim.LossScaler:getScale
-- @as optimtool
-- @follows PyTorch's torch.amp.GradScaler.get_scale
-- @return a number
-- @usage optim.LossScaler{scale = 8}:getScale() --> 8
function LossScaler:getScale() return (read(self)) end

--- Returns the number of steps that were skipped; waits for the device.
-- @function optim.LossScaler:skipped
-- @as optimtool
-- @return a number
-- @usage optim.LossScaler():skipped() --> 0
function LossScaler:skipped() return (select(3, read(self))) end

--- Returns the norm of the last gradient, divided by the scale, without waiting.
-- @function optim.LossScaler:norm
-- @as optimtool
-- @return a tensor of one element on the device of the gradient; nil before the first step
-- @usage local scaler = optim.LossScaler{scale = 2}
--    scaler:unscale(torch.FloatTensor{6, 8})
--    return scaler:norm() --> [5]
function LossScaler:norm() return scratchOf(self).norm end

return LossScaler
