--- nn.DepthConcat(dim): concatenates like nn.Concat, but the outputs' other sizes may differ:
-- smaller outputs are centred and padded with zeros.
-- Invariant: the output's size along dim is the sum of the outputs' sizes; along all others it is
-- the largest.
-- @function nn.DepthConcat
-- @within nn containers
-- @as layer
-- @return a module; forward: B x C x H x W -> B x (sum of C) x (largest H) x (largest W)
-- @usage nn.DepthConcat(2):add(nn.SpatialConvolution(1, 2, 1, 1))
--       :add(nn.SpatialConvolution(1, 3, 3, 3)):forward(torch.ones(1, 1, 6, 6)):size()
--    --> 1x5x6x6

local torch = require 'dpt.tensor'
local requireDimension = require('dpt.nn.child').dimension

local DepthConcat = torch.class('nn.DepthConcat', 'nn.Concat')
DepthConcat.leavesGradients = true

--- Returns the window of t for a module's output: at `offset` along the joined dimension, centred
-- along the others.
-- @function nn.DepthConcat:windowNarrow
-- @as author
-- @param t tensor: of the output's size
-- @param like tensor: a module's output
-- @param offset number: the window's start along the joined dimension
-- @return a view
-- @usage nn.DepthConcat(1):windowNarrow(torch.ones(2, 4, 4), torch.ones(1, 2, 2), 2):size()
--    --> 1x2x2
function DepthConcat:windowNarrow(t, like, offset)
   for dim = 1, t:dim() do
      local length = like:size(dim)
      if dim == self.dimension then
         t = t:narrow(dim, offset, length)
      elseif t:size(dim) ~= length then
         t = t:narrow(dim, math.floor((t:size(dim) - length) / 2) + 1, length)
      end
   end
   return t
end

function DepthConcat:updateOutput(input)
   local outputs, size, along = {}, nil, requireDimension(self, 'dimension')
   for i, module in ipairs(self.modules) do
      local output = self:rethrowErrors(module, i, 'updateOutput', input)
      outputs[i] = output
      if not size then
         size = output:size()
      else
         for dim = 1, output:dim() do
            size[dim] = dim == along and size[dim] + output:size(dim)
               or math.max(size[dim], output:size(dim))
         end
      end
   end
   self.outputSize = size
   self.output:resize(size):zero()
   local offset = 1
   for _, output in ipairs(outputs) do
      self:windowNarrow(self.output, output, offset):copy(output)
      offset = offset + output:size(self.dimension)
   end
   return self.output
end

function DepthConcat:eachPart(gradOutput, f)
   local offset = 1
   for i, module in ipairs(self.modules) do
      f(module, i, self:windowNarrow(gradOutput, module.output, offset):contiguous())
      offset = offset + module.output:size(self.dimension)
   end
end

return DepthConcat
