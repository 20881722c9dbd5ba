--- nn.BatchNormalization(nOutput, eps, momentum, affine): batch normalization of each feature: y =
-- (x - mean) / sqrt(var + eps); with affine (the default), y is multiplied by weight, and bias is
-- added.
-- Invariant: training normalizes by the batch's statistics and updates running_mean and running_var
-- with momentum; evaluation normalizes by running_mean and running_var. nDim is the number of
-- dimensions of the input. Parameters and statistics may be floats beside an input of a reduced
-- type, as in PyTorch. In evaluation an input with one dimension fewer is a batch of one row; its
-- output has the batch dimension.
-- @function nn.BatchNormalization
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x nOutput -> the same size
-- @usage nn.BatchNormalization(3):forward(torch.rand(8, 3)):size() --> 8x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, raise, type, lib = dptffi.fail, dptffi.raise, dptffi.type, dptffi.lib

local BatchNormalization, parent = torch.class('nn.BatchNormalization', 'nn.Module')

BatchNormalization.__version = 2

--- Number of dimensions of the class's input, the batch included.
-- @field nn.BatchNormalization.nDim
-- @as author
-- @return a number
-- @usage nn.BatchNormalization.nDim, nn.SpatialBatchNormalization.nDim --> 2, 4
BatchNormalization.nDim = 2

function BatchNormalization:__init(nOutput, eps, momentum, affine)
   parent.__init(self)
   if type(nOutput) ~= 'number' or nOutput == 0 then
      fail("%s: argument 'nOutput' is %s, wanted the number of features", torch.type(self),
         tostring(nOutput))
   end
   if affine ~= nil and type(affine) ~= 'boolean' then
      fail("%s: argument 'affine' is %s, wanted true or false", torch.type(self), tostring(affine))
   end
   self.affine = affine == nil and true or affine
   self.eps = eps or 1e-5
   self.train = true
   self.momentum = momentum or 0.1
   self.running_mean = torch.zeros(nOutput)
   self.running_var = torch.ones(nOutput)
   if self.affine then
      self.weight = torch.Tensor(nOutput)
      self.bias = torch.Tensor(nOutput)
      self.gradWeight = torch.Tensor(nOutput):zero()
      self.gradBias = torch.Tensor(nOutput):zero()
      self:reset()
   end
end

function BatchNormalization:reset()
   if self.weight then self.weight:uniform() end
   if self.bias then self.bias:zero() end
   self.running_mean:zero()
   self.running_var:fill(1)
end

--- Returns the input, or gradOutput, with a batch dimension; raises if its size does not fit.
-- @function nn.BatchNormalization:batch
-- @as author
-- @param input tensor: with nDim dimensions, or one fewer in evaluation
-- @return a tensor
-- @usage nn.BatchNormalization(3):batch(torch.ones(2, 3)):size() --> 2x3
function BatchNormalization:batch(input)
   local n = self.running_mean:nElement()
   if self.train == false and input:dim() == self.nDim - 1 then
      input = nn.utils.addSingletonDimension(input)
   end
   if input:dim() ~= self.nDim or input:size(2) ~= n then
      fail('%s: input of size %s, wanted %d dimensions of which the second has size %d',
         torch.type(self), table.concat(input:size():totable(), 'x'), self.nDim, n)
   end
   return input
end

-- Returns 1 if the batch's own statistics are used. One value per feature has no variance, so the
-- running statistics are used then, and not updated. Torch7's last version did this for every batch
-- of one row, which leaves networks that train on single images (pix2pix) unnormalized.
local function byBatch(self, input)
   return self.train and input:nElement() > input:size(2) and 1 or 0
end

function BatchNormalization:updateOutput(input)
   input = self:batch(input)
   if not self.save_mean or self.save_mean:type() ~= self.running_mean:type() then
      self.save_mean, self.save_std = self.running_mean.new(), self.running_mean.new()
   end
   lib.batchnorm_forward(self.output, self.save_mean, self.save_std, self.running_mean,
      self.running_var, input, self.weight, self.bias, byBatch(self, input), self.momentum,
      self.eps)
   return self.output
end

local function backward(self, gradInput, gradWeight, gradBias, input, gradOutput, scale)
   if not self.save_mean then
      raise(torch.type(self) .. ': backward wants a forward before it')
   end
   input, gradOutput = self:batch(input), self:batch(gradOutput)
   lib.batchnorm_backward(gradInput, gradWeight, gradBias, input, gradOutput, self.weight,
      self.running_mean, self.running_var, self.save_mean, self.save_std, byBatch(self, input),
      scale or 1, self.eps)
   return self.gradInput
end

-- Computes all three gradients in one pass.
function BatchNormalization:backward(input, gradOutput, scale)
   return backward(self, self.gradInput, self.gradWeight, self.gradBias, input, gradOutput, scale)
end

function BatchNormalization:updateGradInput(input, gradOutput)
   return backward(self, self.gradInput, nil, nil, input, gradOutput)
end

function BatchNormalization:accGradParameters(input, gradOutput, scale)
   if self.affine then
      backward(self, nil, self.gradWeight, self.gradBias, input, gradOutput, scale)
   end
end

function BatchNormalization:clearState()
   nn.utils.clear(self, 'save_mean', 'save_std')
   return parent.clearState(self)
end

function BatchNormalization:__tostring__()
   return ('%s (%dD) (%d)'):format(torch.type(self), self.nDim, self.running_mean:nElement())
end

return BatchNormalization
