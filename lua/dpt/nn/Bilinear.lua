--- nn.Bilinear(inputSize1, inputSize2, outputSize, bias): a bilinear map y_k = x1' W_k x2 + b_k of
-- the rows of two matrices, N x inputSize1 and N x inputSize2. bias = false omits b.
-- Invariant: weight is outputSize x inputSize1 x inputSize2.
-- @function nn.Bilinear
-- @within nn linear
-- @as layer
-- @return a module; forward: {B x inputSize1, B x inputSize2} -> B x outputSize
-- @usage nn.Bilinear(3, 4, 2):forward{torch.ones(5, 3), torch.ones(5, 4)}:size() --> 5x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local usage = require('dpt.tensor.core').usage
local dptffi = require 'dpt.ffi'
local fail, lib, type = dptffi.fail, dptffi.lib, dptffi.type

local Bilinear, parent = torch.class('nn.Bilinear', 'nn.Module')

function Bilinear:__init(inputSize1, inputSize2, outputSize, bias)
   if type(inputSize1) ~= 'number' or type(inputSize2) ~= 'number'
      or type(outputSize) ~= 'number' then
      usage('nn.Bilinear', '(inputSize1, inputSize2, outputSize [, bias])', inputSize1, inputSize2,
         outputSize, bias)
   end
   parent.__init(self)
   self.weight = torch.Tensor(outputSize, inputSize1, inputSize2)
   self.gradWeight = torch.Tensor(outputSize, inputSize1, inputSize2):zero()
   if bias == nil or bias then
      self.bias = torch.Tensor(outputSize)
      self.gradBias = torch.Tensor(outputSize):zero()
   end
   self.gradInput = {torch.Tensor(), torch.Tensor()}
   self:reset()
end

function Bilinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   if self.bias then self.bias:uniform(-stdv, stdv) end
   return self
end

--- Raises if the sizes of the input do not fit.
-- @function nn.Bilinear:check
-- @as author
-- @param input table: two matrices
-- @return nothing
-- @usage local m = nn.Bilinear(2, 3, 1)
--    return select(2, pcall(m.check, m, {torch.ones(1, 9)})):match 'must.*'
--    --> must be a table of matrices Nx2 and Nx3
function Bilinear:check(input)
   local a, b = input[1], input[2]
   if not a or not b or a:dim() ~= 2 or b:dim() ~= 2 or a:size(1) ~= b:size(1)
      or a:size(2) ~= self.weight:size(2) or b:size(2) ~= self.weight:size(3) then
      fail("nn.Bilinear: argument 'input' must be a table of matrices Nx%d and Nx%d",
         self.weight:size(2), self.weight:size(3))
   end
end

function Bilinear:updateOutput(input)
   self:check(input)
   local a, b = input[1], input[2]
   self.output:resize(a:size(1), self.weight:size(1))
   for k = 1, self.weight:size(1) do
      local products = torch.mm(a, self.weight[k]):cmul(b)
      self.output:narrow(2, k, 1):copy(products:sum(2))
   end
   if self.bias then
      self.output:add(1, self.bias:view(1, -1):expandAs(self.output))
   end
   return self.output
end

function Bilinear:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   self:check(input)
   local a, b = input[1], input[2]
   self.gradInput[1]:resizeAs(a):zero()
   self.gradInput[2]:resizeAs(b):zero()
   for k = 1, self.weight:size(1) do
      local g = gradOutput:narrow(2, k, 1)
      self.gradInput[1]:addcmul(1, torch.mm(b, self.weight[k]:t()), g:expandAs(a))
      self.gradInput[2]:addcmul(1, torch.mm(a, self.weight[k]), g:expandAs(b))
   end
   return self.gradInput
end

function Bilinear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local a, b = input[1], input[2]
   for k = 1, self.weight:size(1) do
      local g = gradOutput:narrow(2, k, 1):expandAs(a)
      lib.linear_backward_weight(self.gradWeight[k], nil, b, torch.cmul(a, g), scale)
   end
   if self.bias then lib.plane_sum(self.gradBias, gradOutput, scale) end
end

function Bilinear:__tostring__()
   return ('%s(%dx%d -> %d) '):format(torch.type(self), self.weight:size(2), self.weight:size(3),
      self.weight:size(1)) .. (self.bias == nil and ' without bias' or '')
end

return Bilinear
