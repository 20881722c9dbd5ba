--- nn.SequencerCriterion(criterion, sizeAverage): sums a criterion's losses over the steps of a
-- sequence, or averages them. Sequences are lists, or tensors whose first dimension is time.
-- Invariant: every step has a copy of the criterion. forward waits for the losses of all steps
-- once.
-- @function nn.SequencerCriterion
-- @within nn recurrent
-- @as criterion
-- @return a criterion; forward takes sequences of T steps and their targets, returns the loss
-- @usage nn.SequencerCriterion(nn.MSECriterion()) :forward(torch.zeros(4, 2, 1),
--       torch.ones(4, 2, 1)) --> 4

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, raise = dptffi.fail, dptffi.raise

local SequencerCriterion, parent = torch.class('nn.SequencerCriterion', 'nn.Criterion')

function SequencerCriterion:__init(criterion, sizeAverage)
   parent.__init(self)
   if not torch.isTypeOf(criterion, 'nn.Criterion') then
      raise("nn.SequencerCriterion: argument 'criterion' is of type " .. torch.type(criterion)
         .. ', wanted an nn.Criterion')
   end
   self.criterion, self.sizeAverage = criterion, sizeAverage or false
   self.clones = {}
end

local function length(sequence)
   return torch.isTensor(sequence) and sequence:size(1) or #sequence
end

local function multiply(value, factor)
   if torch.isTensor(value) then return value:mul(factor) end
   for _, inner in pairs(value) do multiply(inner, factor) end
end

-- Calls f(criterion, t, input, target, weight) for every step.
local function each(self, input, target, f)
   local T = length(input)
   if length(target) ~= T then
      fail('nn.SequencerCriterion: the input has %d steps, the target %d', T, length(target))
   end
   for t = 1, T do
      self.clones[t] = self.clones[t] or self.criterion:clone()
      f(self.clones[t], t, input[t], target[t], self.sizeAverage and 1 / T or 1)
   end
end

function SequencerCriterion:updateOutput(input, target)
   local sum, queued, weight = 0, {}, 1
   each(self, input, target, function(criterion, _, x, y, w)
      weight = w
      if criterion.updateOutput == nn.Criterion.updateOutput then
         queued[#queued + 1] = criterion:updateLoss(x, y)
      else
         sum = sum + criterion:updateOutput(x, y)
      end
   end)
   if #queued > 0 then sum = sum + torch.cat(queued, 1):double():sum() end
   self.output = sum * weight
   return self.output
end

function SequencerCriterion:terms(input, target)
   local list = {}
   each(self, input, target, function(criterion, _, x, y, weight)
      criterion:addTerms(list, weight, x, y)
   end)
   return list
end

function SequencerCriterion:denominators(list, input, target)
   local isTable = not torch.isTensor(input)
   each(self, input, target, function(criterion, t, x, y)
      local first = #list + 1
      criterion:denominators(list, x, y)
      for k = first, #list do list[k].entry = isTable and t or nil end
   end)
   return list
end

function SequencerCriterion:updateGradInput(input, target)
   local list, isTensor = {}, torch.isTensor(input)
   if isTensor then
      if torch.type(self.gradInput) ~= input:type() then self.gradInput = input.new() end
      list = self.gradInput:resizeAs(input)
   end
   each(self, input, target, function(criterion, t, x, y, weight)
      local gradient = criterion:partGradient(x, y)
      if weight ~= 1 then multiply(gradient, weight) end
      if isTensor then list:select(1, t):copy(gradient) else list[t] = gradient end
   end)
   self.gradInput = list
   return list
end

function SequencerCriterion:type(typename, tensorCache)
   if typename then
      self.clones = {}
      self.gradInput = torch.Tensor()
   end
   return parent.type(self, typename, tensorCache)
end

return SequencerCriterion
