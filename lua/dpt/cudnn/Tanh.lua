--- cudnn.Tanh(inplace): computes the hyperbolic tangent of each element.
-- Invariant: it computes nn.Tanh, which has no argument inplace.

local torch = require 'dpt.tensor'

local Tanh, parent = torch.class('cudnn.Tanh', 'nn.Tanh')

function Tanh:__init(inplace)
   parent.__init(self)
   self.inplace = inplace or false
end

--- nn.Tanh with cuDNN's name: computes the hyperbolic tangent of each element.
-- @function cudnn.Tanh
-- @as cudnn
-- @return a module; forward: a tensor of any size -> the same size
-- @usage cudnn.Tanh():cuda():forward(torch.CudaTensor{0}) --> [0]

return Tanh
