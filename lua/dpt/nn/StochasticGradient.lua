--- nn.StochasticGradient(module, criterion): trains a module by stochastic gradient descent on a
-- data set, one example at a time.
-- Invariant: dataset:size() returns the number of examples, and dataset[i] is {input, target}. The
-- rate is learningRate in the first iteration and learningRate / (1 + n learningRateDecay) in
-- iteration n.
-- @function nn.StochasticGradient
-- @within nn containers
-- @as layer
-- @return a trainer; its train(dataset) expects :size() and {input, target} at each index
-- @usage nn.StochasticGradient(nn.Linear(1, 1), nn.MSECriterion()).learningRate --> 0.01

local torch = require 'dpt.tensor'

local StochasticGradient = torch.class('nn.StochasticGradient')

function StochasticGradient:__init(module, criterion)
   self.learningRate = 0.01
   self.learningRateDecay = 0
   self.maxIteration = 25
   self.shuffleIndices = true
   self.module = module
   self.criterion = criterion
   self.verbose = true
end

--- Trains the module on a data set, one sample at a time. The fields learningRate,
-- learningRateDecay, maxIteration, shuffleIndices, hookIteration and verbose configure it.
-- @function nn.StochasticGradient:train
-- @as method
-- @within nn simple
-- @param dataset table: size() returns the number of samples, dataset[i] is {input, target}
-- @return nothing
-- @usage local m = nn.Linear(1, 1)
--    local t, p = nn.StochasticGradient(m, nn.MSECriterion()), print
--    t.maxIteration, t.learningRate, t.verbose = 50, 0.1, false
--    print = function() end
--    t:train{size = function() return 1 end, {torch.ones(1), torch.Tensor{3}}}
--    print = p
--    return m:forward(torch.ones(1)) --> [3]
function StochasticGradient:train(dataset)
   local module, criterion = self.module, self.criterion
   local rate = self.learningRate
   local iteration = 1
   local size = dataset:size()
   local order = not self.shuffleIndices and torch.range(1, size):long()
      or torch.randperm(size):long()
   print('# StochasticGradient: training')
   while true do
      local sum = 0
      for i = 1, size do
         local example = dataset[order[i]]
         local input, target = example[1], example[2]
         sum = sum + criterion:forward(module:forward(input), target)
         module:updateGradInput(input, criterion:updateGradInput(module.output, target))
         module:accUpdateGradParameters(input, criterion.gradInput, rate)
         if self.hookExample then self.hookExample(self, example) end
      end
      sum = sum / size
      if self.hookIteration then self.hookIteration(self, iteration, sum) end
      if self.verbose then print('# current error = ' .. sum) end
      iteration = iteration + 1
      rate = self.learningRate / (1 + iteration * self.learningRateDecay)
      if self.maxIteration > 0 and iteration > self.maxIteration then
         print('# StochasticGradient: done, maxIteration is reached')
         print('# training error = ' .. sum)
         break
      end
   end
end

return StochasticGradient
