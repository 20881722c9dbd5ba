--- nn.WeightedEuclidean(inputSize, outputSize): computes weighted Euclidean distances y_j =
-- |c_j (x - w_j)|; w_j and c_j are columns of the learned weight and diagCov.
-- Invariant: diagCov is initialized to ones. parameters() returns weight and diagCov.
-- @function nn.WeightedEuclidean
-- @within nn linear
-- @as layer
-- @return a module; forward: B x inputSize or inputSize -> B x outputSize or outputSize
-- @usage nn.WeightedEuclidean(3, 2):forward(torch.ones(4, 3)):size() --> 4x2

local torch = require 'dpt.tensor'

local WeightedEuclidean, parent = torch.class('nn.WeightedEuclidean', 'nn.Euclidean')

function WeightedEuclidean:__init(inputSize, outputSize)
   self.diagCov = torch.Tensor(inputSize, outputSize)
   self.gradDiagCov = torch.Tensor(inputSize, outputSize):zero()
   parent.__init(self, inputSize, outputSize)
end

function WeightedEuclidean:reset(stdv)
   self.diagCov:fill(1)
   parent.reset(self, stdv)
end

function WeightedEuclidean:parameters()
   return {self.weight, self.diagCov}, {self.gradWeight, self.gradDiagCov}
end

function WeightedEuclidean:accUpdateGradParameters(input, gradOutput, lr)
   local gradWeight, gradDiagCov = self.gradWeight, self.gradDiagCov
   self.gradWeight, self.gradDiagCov = self.weight, self.diagCov
   self:accGradParameters(input, gradOutput, -lr)
   self.gradWeight, self.gradDiagCov = gradWeight, gradDiagCov
end

local function spread(parameter, like)
   return parameter:view(1, parameter:size(1), parameter:size(2)):expandAs(like)
end

function WeightedEuclidean:updateOutput(input)
   local differences = self:differences(input)
   return self:measure(input, differences:cmul(spread(self.diagCov, differences)))
end

--- Returns the gradient with respect to the differences x_i - w_ij:
-- gradOutput_j / y_j c_ij^2 (x_i - w_ij).
-- @function nn.WeightedEuclidean:pulls
-- @as author
-- @param input tensor: N x inputSize, or a vector
-- @param gradOutput tensor: gradient of the output
-- @return N x inputSize x outputSize
-- @usage local m, x = nn.WeightedEuclidean(2, 3), torch.ones(4, 2)
--    m:forward(x)
--    return m:pulls(x, torch.ones(4, 3)):size() --> 4x2x3
function WeightedEuclidean:pulls(input, gradOutput)
   local differences = self:differences(input)
   local covariance = spread(self.diagCov, differences)
   return differences:cmul(covariance):cmul(covariance)
      :cmul(self:factors(gradOutput, differences))
end

function WeightedEuclidean:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(self:pulls(input, gradOutput):sum(3))
   return self.gradInput
end

function WeightedEuclidean:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local differences = self:differences(input)
   local covariance = spread(self.diagCov, differences)
   local weights = self:pulls(input, gradOutput):sum(1)
   differences:cmul(differences):cmul(covariance):cmul(self:factors(gradOutput, differences))
   self.gradWeight:add(-scale, weights)
   self.gradDiagCov:add(scale, differences:sum(1))
end

return WeightedEuclidean
