--- nn.Bottle(module, nInputDim, nOutputDim): folds the leading dimensions into one batch dimension,
-- so that a module for nInputDim dimensions (2 by default) accepts inputs with more.
-- Invariant: in the output, the folded dimensions are restored.
-- @function nn.Bottle
-- @within nn containers
-- @as layer
-- @param nOutputDim dimensions of the module's output, the batch included (nInputDim)
-- @return a module; forward: ... x (nInputDim - 1 dimensions) -> the same leading dimensions x
--    the module's output
-- @usage nn.Bottle(nn.Linear(3, 2)):forward(torch.ones(4, 5, 3)):size() --> 4x5x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local Bottle, parent = torch.class('nn.Bottle', 'nn.Decorator')
Bottle.outputSplit = Bottle.sameSplit
Bottle.leavesGradients = true

function Bottle:__init(module, nInputDim, nOutputDim)
   parent.__init(self, module)
   self.nInputDim = nInputDim or 2
   self.nOutputDim = nOutputDim or self.nInputDim
   self.dimDelta = self.nInputDim - self.nOutputDim
end

-- Returns the sizes of t with all dimensions before the last `keep` - 1 folded into one.
local function folded(t, keep)
   local size = {1}
   for d = 1, t:dim() - keep + 1 do size[1] = size[1] * t:size(d) end
   for d = t:dim() - keep + 2, t:dim() do size[#size + 1] = t:size(d) end
   return torch.LongStorage(size)
end

function Bottle:updateOutput(input)
   if input:dim() <= self.nInputDim then
      self.output:set(self.modules[1]:updateOutput(input))
      return self.output
   end
   self.inShape = folded(input, self.nInputDim)
   local flat = nn.utils.contiguousView(nil, input, self.inShape)
   local output = self.modules[1]:updateOutput(flat)
   self.outShape = output:size()
   local size = {}
   for d = 1, input:dim() - self.nInputDim + 1 do size[d] = input:size(d) end
   for d = 2, output:dim() do size[#size + 1] = output:size(d) end
   self.output:set(nn.utils.contiguousView(nil, output, torch.LongStorage(size)))
   return self.output
end

--- Calls f with the input and gradOutput in the shapes that the inner module sees.
-- @function nn.Bottle:inside
-- @as author
-- @param input tensor: the bottle's input
-- @param gradOutput tensor: of the bottle's output
-- @param f function: f(input, gradOutput), with both folded
-- @return the value that f returns
-- @usage local m = nn.Bottle(nn.Linear(2, 3))
--    m:forward(torch.ones(4, 5, 2))
--    return m:inside(torch.ones(4, 5, 2), torch.ones(4, 5, 3), function(x)
--       return x:size()
--    end) --> 20x2
function Bottle:inside(input, gradOutput, f)
   if input:dim() <= self.nInputDim then return f(input, gradOutput) end
   return f(nn.utils.contiguousView(nil, input, self.inShape),
      nn.utils.contiguousView(nil, gradOutput, self.outShape))
end

function Bottle:updateGradInput(input, gradOutput)
   local gradient = self:inside(input, gradOutput, function(x, g)
      return self.modules[1]:updateGradInput(x, g)
   end)
   if gradient then
      self.gradInput:set(nn.utils.contiguousView(nil, gradient, input:size()))
      return self.gradInput
   end
end

function Bottle:accGradParameters(input, gradOutput, scale)
   self:inside(input, gradOutput, function(x, g)
      self.modules[1]:accGradParameters(x, g, scale)
   end)
end

function Bottle:accUpdateGradParameters(input, gradOutput, lr)
   self:inside(input, gradOutput, function(x, g)
      self.modules[1]:accUpdateGradParameters(x, g, lr)
   end)
end

function Bottle:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self:inside(input, gradOutput, function(x, g)
      self.modules[1]:sharedAccUpdateGradParameters(x, g, lr)
   end)
end

return Bottle
