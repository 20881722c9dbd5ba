--- dpt.optim.schedule: learning rates as functions of the number of steps, or of a metric.
-- Invariant: a schedule has only numbers, strings and lists of numbers in its fields, so torch.save
-- writes it; the rate of a step depends on the fields and the step only, except for plateau, whose
-- fields also count its calls.
local torch = require 'dpt.tensor'
local options = require 'dpt.distributed.options'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

--- Tags that reference entries of schedules share.
-- @pattern schedule
-- @within optim
-- @raise if an option is missing, unknown or has a wrong value

--- Schedules of learning rates: constant, cosine, exponential, milestones, step, plateau. All but
-- plateau return an object: rate(t) is the learning rate of the next step after t steps, or epochs,
-- from 0 on. torch.save writes the object.
-- @field optim.schedule
-- @within optim
-- @follows PyTorch's torch.optim.lr_scheduler
-- @return a table of functions
-- @usage local rate = optim.schedule.cosine{learningRate = 0.1, steps = 100, warmup = 10}
--    local config, x = {}, torch.Tensor{1}
--    for t = 0, 109 do
--       config.learningRate = rate(t)
--       optim.sgd(function() return x[1]^2, x * 2 end, x, config)
--    end
--    return x[1] < 0.01 --> true
local schedule = {}

local classes = {} -- not fields of optim: the functions below create objects
local Schedule = torch.class('optim.Schedule', classes)
Schedule._internal = true

local function isFinite(value) return type(value) == 'number' and value - value == 0 end
local function isFromZero(value) return isFinite(value) and value >= 0 end
local function isAboveZero(value) return isFinite(value) and value > 0 end
local function isNumbers(value)
   if type(value) ~= 'table' or #value == 0 then return false end
   for _, one in ipairs(value) do
      if not isFinite(one) then return false end
   end
   return true
end

-- Returns a value for a message.
local function shown(value)
   return (value == nil or type(value) == 'number') and tostring(value) or 'a ' .. torch.type(value)
end

local FROM_ZERO = {isFromZero, 'a number from 0 on'}
local ABOVE_ZERO = {isAboveZero, 'a number above 0'}

-- Returns a copy of the given options, with defaults for missing ones.
local function read(kind, given, known, defaults)
   local name, fields = 'optim.schedule.' .. kind, {}
   options.check(name, given, 1, known)
   for key in pairs(known) do
      local value = given and given[key]
      if value == nil then value = defaults[key] end
      options.checkOne(name, key, value, known)
      fields[key] = value
   end
   return fields
end

-- By kind: its options, their defaults, and the rate after t steps that follow the warm-up.
local kinds = {
   constant = {{}, {}, function(self) return self.learningRate end},
   cosine = {{steps = ABOVE_ZERO, minimum = FROM_ZERO}, {minimum = 0}, function(self, t)
      return self.minimum
         + (self.learningRate - self.minimum) * (1 + math.cos(math.pi * t / self.steps)) / 2
   end},
   step = {{stepSize = ABOVE_ZERO, gamma = FROM_ZERO}, {gamma = 0.1}, function(self, t)
      return self.learningRate * self.gamma ^ math.floor(t / self.stepSize)
   end},
   milestones = {{milestones = {isNumbers, 'a list of numbers'}, gamma = FROM_ZERO}, {gamma = 0.1},
      function(self, t)
         local count = 0
         for _, milestone in ipairs(self.milestones) do
            if t >= milestone then count = count + 1 end
         end
         return self.learningRate * self.gamma ^ count
      end},
   exponential = {{gamma = FROM_ZERO}, {}, function(self, t)
      return self.learningRate * self.gamma ^ t
   end},
}

for kind, entry in pairs(kinds) do
   local known, defaults = entry[1], entry[2]
   known.learningRate, known.warmup = FROM_ZERO, FROM_ZERO
   known.warmupFactor = {function(value) return isAboveZero(value) and value <= 1 end,
      'a number above 0, at most 1'}
   defaults.warmup, defaults.warmupFactor = 0, 1 / 3
   schedule[kind] = function(given) return classes.Schedule(kind, given) end
end

function Schedule:__init(kind, given)
   self.kind = kind
   for key, value in pairs(read(kind, given, kinds[kind][1], kinds[kind][2])) do
      self[key] = value
   end
end

--- Returns the learning rate after t steps.
function Schedule:__call__(t)
   if not isFromZero(t) then
      fail("optim.schedule.%s: argument 't' is %s, wanted the number of steps, from 0 on",
         self.kind, shown(t))
   end
   if t < self.warmup then
      local factor = self.warmupFactor
      return self.learningRate * (factor + (1 - factor) * t / self.warmup)
   end
   return kinds[self.kind][3](self, t - self.warmup)
end

local Plateau = torch.class('optim.Plateau', classes)
Plateau._internal = true

local function oneOf(a, b)
   return {function(value) return value == a or value == b end, ("'%s' or '%s'"):format(a, b)}
end

local plateauOptions = {learningRate = FROM_ZERO, mode = oneOf('min', 'max'),
   factor = {function(value) return isFromZero(value) and value < 1 end,
      'a number from 0 on, below 1'},
   patience = FROM_ZERO, threshold = FROM_ZERO, thresholdMode = oneOf('rel', 'abs'),
   cooldown = FROM_ZERO, minRate = FROM_ZERO}
local plateauDefaults = {mode = 'min', factor = 0.1, patience = 10, threshold = 1e-4,
   thresholdMode = 'rel', cooldown = 0, minRate = 0}
local LEAST = 1e-8 -- a smaller decrease is omitted, as in PyTorch

function Plateau:__init(given)
   for key, value in pairs(read('plateau', given, plateauOptions, plateauDefaults)) do
      self[key] = value
   end
   self.best = self.mode == 'min' and math.huge or -math.huge
   self.bad, self.resting = 0, 0 -- calls without an improvement; remaining calls of the cooldown
end

local function improves(self, metric)
   local sign = self.mode == 'min' and -1 or 1
   local margin = sign * self.threshold
   local bound = self.thresholdMode == 'rel' and self.best * (1 + margin) or self.best + margin
   return sign * metric > sign * bound
end

function Plateau:step(metric)
   if type(metric) ~= 'number' then
      fail("optim.schedule.plateau: step: argument 'metric' is %s, wanted a number", shown(metric))
   end
   if improves(self, metric) then
      self.best, self.bad = metric, 0
   else
      self.bad = self.bad + 1
   end
   if self.resting > 0 then self.resting, self.bad = self.resting - 1, 0 end
   if self.bad > self.patience then
      local rate = math.max(self.learningRate * self.factor, self.minRate)
      if self.learningRate - rate > LEAST then self.learningRate = rate end
      self.resting, self.bad = self.cooldown, 0
   end
   return self.learningRate
end

schedule.plateau = function(given) return classes.Plateau(given) end

--- The same rate at all steps, after a warm-up.
-- @function optim.schedule.constant
-- @as schedule
-- @follows PyTorch's LinearLR
-- @param options table: learningRate; warmup (0: number of first steps, in which the rate rises
--    linearly to learningRate; all other schedules have this option, too, and begin after these
--    steps), warmupFactor (1/3: the first rate of the warm-up, divided by learningRate)
-- @return a schedule
-- @usage local rate = optim.schedule.constant{learningRate = 0.5, warmup = 4, warmupFactor = 0.5}
--    return rate(0), rate(2), rate(9) --> 0.25, 0.375, 0.5

--- Half a period of a cosine: from learningRate to the minimum in a number of steps. After them the
-- rate rises again, as PyTorch's does.
-- @function optim.schedule.cosine
-- @as schedule
-- @follows PyTorch's CosineAnnealingLR, and SequentialLR with LinearLR for the warm-up
-- @param options table: learningRate, steps (without the warm-up), minimum (0), warmup (0),
--    warmupFactor (1/3)
-- @return a schedule
-- @usage local rate = optim.schedule.cosine{learningRate = 1, steps = 100, minimum = 0.5}
--    return rate(0), rate(50), rate(100) --> 1, 0.75, 0.5

--- Multiplies the rate by gamma after every stepSize steps.
-- @function optim.schedule.step
-- @as schedule
-- @follows PyTorch's StepLR
-- @param options table: learningRate, stepSize, gamma (0.1), warmup (0), warmupFactor (1/3)
-- @return a schedule
-- @usage local rate = optim.schedule.step{learningRate = 1, stepSize = 30, gamma = 0.5}
--    return rate(29), rate(30), rate(60) --> 1, 0.5, 0.25

--- Multiplies the rate by gamma at each milestone.
-- @function optim.schedule.milestones
-- @as schedule
-- @follows PyTorch's MultiStepLR
-- @param options table: learningRate, milestones (a list of numbers of steps, counted without the
--    warm-up), gamma (0.1), warmup (0), warmupFactor (1/3)
-- @return a schedule
-- @usage local rate = optim.schedule.milestones{learningRate = 1, milestones = {30, 80},
--       gamma = 0.5}
--    return rate(29), rate(30), rate(80) --> 1, 0.5, 0.25

--- Multiplies the rate by gamma after each step.
-- @function optim.schedule.exponential
-- @as schedule
-- @follows PyTorch's ExponentialLR
-- @param options table: learningRate, gamma, warmup (0), warmupFactor (1/3)
-- @return a schedule
-- @usage local rate = optim.schedule.exponential{learningRate = 1, gamma = 0.5}
--    return rate(0), rate(2) --> 1, 0.25

--- Multiplies the rate by a factor when a metric, such as the loss of an epoch, has not improved
-- for more than `patience` calls. schedule:step(metric) returns the rate, also in the field
-- learningRate; torch.save writes the schedule with its counts. All ranks must pass the same
-- metric.
-- @function optim.schedule.plateau
-- @as schedule
-- @follows PyTorch's ReduceLROnPlateau
-- @param options table: learningRate, mode ('min': lower metrics are better; or 'max'), factor
--    (0.1), patience (10), threshold (1e-4: a smaller improvement does not count), thresholdMode
--    ('rel': the threshold is a part of the best metric; or 'abs'), cooldown (0: calls after a
--    decrease that do not count), minRate (0)
-- @return a schedule
-- @usage local plateau = optim.schedule.plateau{learningRate = 1, patience = 1, factor = 0.5}
--    local rates = {}
--    for i, loss in ipairs{3, 2, 2, 2, 2} do rates[i] = plateau:step(loss) end
--    return rates --> {1 1 1 0.5 0.5}

return schedule
