--- nn.DataParallelCriterion(criterion, {devices, dim}): computes the loss on the devices that hold
-- the outputs: each device computes the loss of its part of the batch, with a copy of the
-- criterion.
--
--    net = nn.DataParallelTable(1, true, false, {gather = false}):add(network:cuda(), {1, 2, 3, 4})
--    criterion = nn.DataParallelCriterion(nn.ClassNLLCriterion():cuda())
--
-- Invariant: loss and gradient equal those of the criterion on the whole batch, because the copies'
-- denominators are summed (see nn.Criterion). The losses of all devices are queued before the first
-- wait; backward does not wait. If a network left its outputs on several devices, they and their
-- gradients stay there. Outputs in one tensor are split, and the gradient is on the tensor's
-- device.
-- @function nn.DataParallelCriterion
-- @within nn data-parallel
-- @as parallel
-- @param devices a list of devices (those of the outputs)
-- @return a module; forward: the outputs that nn.DataParallelTable leaves on their devices, and a
--    target
-- @usage torch.type(nn.DataParallelCriterion(nn.MSECriterion():cuda()))
--    --> nn.DataParallelCriterion
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local Basic = require 'dpt.parallel.dispatch.basic'
local devices = require 'dpt.parallel.dispatch.devices'
local gather = require 'dpt.parallel.split.gather'
local readOptions = require('dpt.nn.DataParallelTable.options').read
local denominators = require 'dpt.nn.denominators'
local scatter = require('dpt.parallel.split.scatter').into
local deviceOutputs = require 'dpt.parallel.split.device_outputs'
local type = dptffi.type

local DataParallelCriterion, parent = torch.class('nn.DataParallelCriterion', 'nn.Criterion')

local NAME = 'nn.DataParallelCriterion'

--- Fields that the next forward rebuilds.
DataParallelCriterion.transient = {'made', 'gpuAssignments', 'modules', 'impl', 'state', 'inputGpu',
   'targetGpu', 'joined', 'used', 'lists', 'divisors', 'output', 'gradInput'}

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

--- @param criterion has a device's type
-- @param options for outputs in one tensor: devices = list (all), dim = the dimension along which
--    they are split (1). Outputs that a network left on its devices determine both
function DataParallelCriterion:__init(criterion, options)
   parent.__init(self)
   if not torch.isTypeOf(criterion, 'nn.Criterion') then
      fail('wants an nn.Criterion as argument 1, got %s', torch.type(criterion))
   end
   dptffi.lib.device_check(NAME)
   options = readOptions(options, {'devices', 'dim'}, NAME, 2)
   local wrong, list = devices.check({}, options.devices or devices.all())
   if wrong then fail('%s', wrong) end
   self.criterion = criterion
   self.plan = {devices = list, dimension = options.dim or 1}
   self._type = criterion:type()
   self:resetTransient()
end

function DataParallelCriterion:resetTransient()
   self.state, self.inputGpu, self.targetGpu = {input = {}, target = {}}, {}, {}
   self.output, self.gradInput = 0, torch.getmetatable(self._type).new()
end

--- Returns a copy of the criterion on the current device.
-- @function nn.DataParallelCriterion:replicate
-- @as author
-- @return a criterion
-- @usage torch.type(nn.DataParallelCriterion(nn.MSECriterion()):replicate())
--    --> nn.MSECriterion
function DataParallelCriterion:replicate()
   return self.criterion:copyForTerms()
end

-- Appends a description of a value: keys and plain values; for tensors, address and version (number
-- of writes).
local function describe(list, value, seen)
   if torch.isTensor(value) then
      list[#list + 1] = comm.address(value)
      list[#list + 1] = comm.version{value}
   elseif type(value) ~= 'table' then
      list[#list + 1] = value
   elseif not seen[value] then
      seen[value] = true
      for key, inner in pairs(value) do
         list[#list + 1] = key
         describe(list, inner, seen)
      end
   end
   return list
end

local function isEqual(a, b)
   for i = 1, math.max(#a, #b) do
      if a[i] ~= b[i] then return false end
   end
   return true
end

-- Makes the copies if they are missing or on other devices, or if the criterion has changed.
function DataParallelCriterion:_prepare(list)
   local made = describe({}, {list, self.criterion}, {})
   if self.made and isEqual(made, self.made) then return end
   self.made, self.gpuAssignments = made, copyTree(list)
   self.modules = {cutorch.withDevice(list[1], function() return self:replicate() end)}
   self.impl = Basic(self)
end

-- Sets inputGpu to the inputs of the copies. Returns the number of copies that have rows, and the
-- plan by which the input was split.
function DataParallelCriterion:_takeInput(input)
   local plan = deviceOutputs.plan(input)
   if plan then
      self:_prepare(plan.devices)
      self.inputGpu = input
      return #input, plan
   end
   plan = self.plan
   if deviceOutputs.device(input) == 0 and deviceOutputs.rows(input, plan.dimension) > 0 then
      fail("argument 'input' is a %s in host memory, wanted the output of a network on devices",
         torch.type(input))
   end
   self:_prepare(plan.devices)
   self.inputGpu = {}
   return scatter(self.state.input, self.inputGpu, input,
      {devices = plan.devices, dimension = plan.dimension}, NAME .. ': input'), plan
end

-- Sets targetGpu to the target of each copy that has an input.
function DataParallelCriterion:_takeTarget(target, used, plan)
   local list, counts = {}, {}
   for i = 1, used do
      list[i], counts[i] = plan.devices[i], deviceOutputs.rows(self.inputGpu[i], plan.dimension)
   end
   scatter(self.state.target, self.targetGpu, target, {devices = list, type = self._type,
      dimension = plan.dimension, cut = deviceOutputs.cutting(counts, NAME .. ': the target')},
      NAME .. ': target')
end

-- Computes the loss of the whole batch from the terms of all copies, and sets each copy's share of
-- the gradient. Also returns the divisor of each term, or false for a sum.
local function join(lists)
   local loss, divisors = 0, {}
   for k, first in ipairs(lists[1] or {}) do
      local sum, whole = 0, 0
      for _, terms in ipairs(lists) do
         local term = terms[k]
         sum = sum + (term.denominator or 1) * term.loss
         whole = whole + (term.denominator or 0)
      end
      local divided = whole ~= 0
      for _, terms in ipairs(lists) do
         terms[k].share = divided and terms[k].denominator / whole or nil
         terms[k].criterion.share_ = terms[k].share
      end
      loss = loss + first.weight * (divided and sum / whole or sum)
      divisors[k] = {denominator = divided and whole}
   end
   return loss, divisors
end

function DataParallelCriterion:updateOutput(input, target)
   self.used = nil -- no backward after a forward that failed
   local used, plan = self:_takeInput(input)
   self:_takeTarget(target, used, plan)
   local lists = self.impl:call('queueTerms', used, self.inputGpu, self.targetGpu)
   self.lists = self.impl:call('readTerms', used, lists)
   self.output, self.divisors = join(self.lists)
   self.used = used
   return self.output
end

function DataParallelCriterion:backward(input, target)
   local gradInput = self:updateGradInput(input, target)
   if denominators.enabled then denominators.record(gradInput, self.divisors, NAME, input) end
   return gradInput
end

function DataParallelCriterion:updateGradInput(input)
   if not self.used then fail('backward needs a forward before it') end
   local parts = self.impl:call('partGradient', self.used, self.inputGpu, self.targetGpu)
   local plan = deviceOutputs.plan(input)
   if plan then
      self.gradInput = deviceOutputs.mark(parts, plan.devices, plan.dimension)
   elseif self.used == 0 then
      self.gradInput = nn.utils.recursiveResizeAs(nil, input)
   else
      self.joined = gather(self.joined, parts, self.used, self.plan.dimension,
         deviceOutputs.device(input), NAME .. ': gradInput')
      self.gradInput = self.joined
   end
   return self.gradInput
end

function DataParallelCriterion:__tostring__()
   return NAME .. ': ' .. tostring(self.criterion)
end

return DataParallelCriterion
