--- nn.DistanceRatioCriterion(sizeAverage): -log(e^-a / (e^-a + e^-b)) for each row of a pair of
-- distances: a to a similar sample, b to a dissimilar one.
-- Invariant: with sizeAverage (the default) rows are averaged, otherwise summed.
-- @function nn.DistanceRatioCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes a pair of B distances, returns the loss
-- @usage nn.DistanceRatioCriterion():forward{torch.Tensor{1}, torch.Tensor{1}} --> 0.6931

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local lib = require('dpt.ffi').lib
local losses = require 'dpt.nn.losses'
local pointwise = require 'dpt.nn.pointwise'

local DistanceRatioCriterion, parent = torch.class('nn.DistanceRatioCriterion', 'nn.Criterion')
local softplus = pointwise.id('softplus')

function DistanceRatioCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

-- Queues the loss, log(1 + e^(a - b)).
function DistanceRatioCriterion:updateLoss(input)
   local difference = torch.add(input[1], -1, input[2])
   lib.map1(softplus, difference, difference, 1, 20)
   return self:sumOf(difference, self:denominator(input))
end

function DistanceRatioCriterion:denominator(input)
   return losses.elements(self, input[1])
end

function DistanceRatioCriterion:updateGradInput(input)
   local slope = torch.add(input[1], -1, input[2]):sigmoid()
   if self.sizeAverage then slope:div(slope:nElement()) end
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   self.gradInput[1]:resizeAs(input[1]):copy(slope)
   self.gradInput[2]:resizeAs(input[2]):mul(slope, -1)
   return self.gradInput
end

return DistanceRatioCriterion
