--- nn.LayerNormalization(nOutput, bias, eps, affine): every row of a matrix with mean 0 and
-- variance 1, times weight plus bias (affine).
-- What must stay true: weight begins as ones, bias as the given number (0).

local torch = require 'dpt.tensor'

local LayerNormalization, parent = torch.class('nn.LayerNormalization', 'nn.Module')

function LayerNormalization:__init(nOutput, bias, eps, affine)
   parent.__init(self)
   self.eps = eps or 1e-10
   self.affine = affine == nil and true or affine
   self.initialBias = bias or 0
   if self.affine then
      self.weight = torch.Tensor(nOutput)
      self.bias = torch.Tensor(nOutput)
      self.gradWeight = torch.Tensor(nOutput):zero()
      self.gradBias = torch.Tensor(nOutput):zero()
      self:reset()
   end
end

function LayerNormalization:reset()
   if self.affine then
      self.weight:fill(1)
      self.bias:fill(self.initialBias)
   end
end

local function rows(t)
   return t:dim() == 1 and t:contiguous():view(1, -1) or t
end

function LayerNormalization:updateOutput(input)
   local x = rows(input)
   self._normal = torch.add(x, -1, torch.mean(x, 2):expandAs(x))
   self._std = torch.cmul(self._normal, self._normal):mean(2):add(self.eps):sqrt()
   self._normal:cdiv(self._std:expandAs(x))
   self.output:resizeAs(x):copy(self._normal)
   if self.affine then
      self.output:cmul(self.weight:view(1, -1):expandAs(x))
      self.output:add(1, self.bias:view(1, -1):expandAs(x))
   end
   if input:dim() == 1 then self.output:resize(input:size()) end
   return self.output
end

-- With h = g weight: (h - mean h - y mean(h y)) / std
function LayerNormalization:updateGradInput(input, gradOutput)
   local y = self._normal
   local h = rows(gradOutput):clone()
   if self.affine then h:cmul(self.weight:view(1, -1):expandAs(h)) end
   local along = torch.cmul(h, y):mean(2)
   h:add(-1, h:mean(2):expandAs(h))
   h:addcmul(-1, y, along:expandAs(y)):cdiv(self._std:expandAs(h))
   self.gradInput:resizeAs(input):copy(h)
   return self.gradInput
end

function LayerNormalization:accGradParameters(_, gradOutput, scale)
   if self.affine then
      local g = rows(gradOutput)
      self.gradWeight:add(scale or 1, torch.cmul(g, self._normal):sum(1))
      self.gradBias:add(scale or 1, torch.sum(g, 1))
   end
end

function LayerNormalization:clearState()
   self._normal, self._std = nil, nil
   return parent.clearState(self)
end

return LayerNormalization
