--- cudnn.Tanh(inplace): the hyperbolic tangent, element by element.
-- Invariant: it is nn.Tanh, which has no inplace.

local torch = require 'dpt.tensor'

local Tanh, parent = torch.class('cudnn.Tanh', 'nn.Tanh')

function Tanh:__init(inplace)
   parent.__init(self)
   self.inplace = inplace or false
end

--- nn.Tanh under cuDNN's name: the hyperbolic tangent of each element.
-- @function cudnn.Tanh
-- @as cudnn
-- @return a module; forward: a tensor of any size -> the same size
-- @usage cudnn.Tanh():cuda():forward(torch.CudaTensor{0}) --> [0]

return Tanh
