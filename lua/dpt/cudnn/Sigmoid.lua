--- cudnn.Sigmoid(inplace): computes 1 / (1 + e^-x) of each element.
-- Invariant: it computes nn.Sigmoid, which has no argument inplace.

local torch = require 'dpt.tensor'

local Sigmoid, parent = torch.class('cudnn.Sigmoid', 'nn.Sigmoid')

function Sigmoid:__init(inplace)
   parent.__init(self)
   self.inplace = inplace or false
end

--- nn.Sigmoid with cuDNN's name: computes 1 / (1 + exp(-x)) of each element.
-- @function cudnn.Sigmoid
-- @as cudnn
-- @return a module; forward: a tensor of any size -> the same size
-- @usage cudnn.Sigmoid():cuda():forward(torch.CudaTensor{0}) --> [0.5]

return Sigmoid
