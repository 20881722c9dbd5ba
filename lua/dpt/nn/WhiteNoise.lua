--- nn.WhiteNoise(mean, std): adds Gaussian noise during training.
-- Invariant: gradients pass through unchanged. Evaluation adds nothing.
-- @function nn.WhiteNoise
-- @within nn normalization
-- @as layer
-- @param mean mean of the noise (0)
-- @param std standard deviation of the noise (0.1)
-- @return a module; forward: any tensor -> the same size
-- @usage local m = nn.WhiteNoise(0, 1)
--    m:evaluate()
--    return m:forward(torch.Tensor{1, 2}) --> [1 2]

local torch = require 'dpt.tensor'

local WhiteNoise, parent = torch.class('nn.WhiteNoise', 'nn.Module')

function WhiteNoise:__init(mean, std)
   parent.__init(self)
   self.mean = mean or 0
   self.std = std or 0.1
   self.noise = torch.Tensor()
   self.train = true
end

function WhiteNoise:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   if self.train ~= false then
      self.noise:resizeAs(input):normal(self.mean, self.std)
      self.output:add(1, self.noise)
   elseif self.mean ~= 0 then
      self.output:add(self.mean)
   end
   return self.output
end

function WhiteNoise:updateGradInput(_, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   return self.gradInput
end

function WhiteNoise:clearState()
   self.noise:set()
   return parent.clearState(self)
end

function WhiteNoise:__tostring__()
   return ('%s mean: %f, std: %f'):format(torch.type(self), self.mean, self.std)
end

return WhiteNoise
