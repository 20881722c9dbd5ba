--- nn.Maxout(inputSize, outputSize, maxoutNumber, preprocess): the maximum of maxoutNumber linear
-- functions for each output.
-- Invariant: preprocess, a module, is applied between nn.Linear and the maximum.
-- @function nn.Maxout
-- @within nn linear
-- @as layer
-- @param maxoutNumber linear functions per output
-- @param preprocess a module before the maximum
-- @return a module; forward: B x inputSize -> B x outputSize
-- @usage nn.Maxout(3, 2, 5):forward(torch.ones(4, 3)):size() --> 4x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local Maxout, parent = torch.class('nn.Maxout', 'nn.Sequential')

function Maxout:__init(inputSize, outputSize, maxoutNumber, preprocess)
   parent.__init(self)
   self.inputSize, self.outputSize = inputSize, outputSize
   self.maxoutNumber = maxoutNumber
   self:add(nn.Linear(inputSize, outputSize * maxoutNumber))
   if preprocess then self:add(preprocess) end
   self:add(nn.View(maxoutNumber, outputSize):setNumInputDims(1))
   self:add(nn.Max(1, 2))
end

return Maxout
