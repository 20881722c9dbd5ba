--- nn.SpatialConvolutionMap(conMatrix, kW, kH, dW, dH): 2-D convolution in which only the rows
-- {input plane, output plane} of a table are connected.
-- What must stay true: weight holds one kH x kW kernel for each row; it is computed as a whole
-- convolution in which all other kernels are zero.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local lib = require 'dpt.nn.lib'
local window = require 'dpt.nn.window'

local SpatialConvolutionMap, parent = torch.class('nn.SpatialConvolutionMap', 'nn.Module')

SpatialConvolutionMap.transposed = false

function SpatialConvolutionMap:__init(conMatrix, kW, kH, dW, dH)
   parent.__init(self)
   self.kW, self.kH = kW, kH
   self.dW, self.dH = dW or 1, dH or 1
   self.connTable = conMatrix
   self.nInputPlane = conMatrix:select(2, 1):max()
   self.nOutputPlane = conMatrix:select(2, 2):max()
   self.weight = torch.Tensor(conMatrix:size(1), kH, kW)
   self.bias = torch.Tensor(self.nOutputPlane)
   self.gradWeight = torch.Tensor(conMatrix:size(1), kH, kW):zero()
   self.gradBias = torch.Tensor(self.nOutputPlane):zero()
   self:reset()
end

--- Uniform in +-1/sqrt(kW kH inputs of the output plane).
function SpatialConvolutionMap:reset(stdv)
   if stdv then
      stdv = stdv * math.sqrt(3)
      self.weight:uniform(-stdv, stdv)
      self.bias:uniform(-stdv, stdv)
      return
   end
   local inputs, outputs = {}, self.connTable:select(2, 2):totable()
   for _, o in ipairs(outputs) do inputs[o] = (inputs[o] or 0) + 1 end
   local function bound(o) return 1 / math.sqrt(self.kW * self.kH * (inputs[o] or 1)) end
   for k, o in ipairs(outputs) do self.weight[k]:uniform(-bound(o), bound(o)) end
   for o = 1, self.nOutputPlane do
      self.bias:narrow(1, o, 1):uniform(-bound(o), bound(o))
   end
end

-- The rows of the whole convolution's kernels that the table names, on the weight's side.
function SpatialConvolutionMap:kernelRows()
   if not self._rows or self._rowsType ~= torch.type(self.weight) then
      local list = {}
      for k, pair in ipairs(self.connTable:totable()) do
         if self.transposed then
            list[k] = (pair[1] - 1) * self.nOutputPlane + pair[2]
         else
            list[k] = (pair[2] - 1) * self.nInputPlane + pair[1]
         end
      end
      self._rows = nn.utils.indexTensor(nil, self.weight):resize(#list)
         :copy(torch.LongTensor(list))
      self._rowsType = torch.type(self.weight)
   end
   return self._rows
end

local function wholeSize(self)
   if self.transposed then return self.nInputPlane, self.nOutputPlane, self.kH, self.kW end
   return self.nOutputPlane, self.nInputPlane, self.kH, self.kW
end

-- The weight of the whole convolution.
function SpatialConvolutionMap:whole()
   local kernels = self.nInputPlane * self.nOutputPlane
   self._whole = self._whole or self.weight.new()
   self._whole:resize(kernels, self.kH * self.kW):zero()
      :indexAdd(1, self:kernelRows(), self.weight:view(-1, self.kH * self.kW))
   return self._whole:view(wholeSize(self))
end

function SpatialConvolutionMap:updateOutput(input)
   lib.conv_forward(self.output, input, self:whole(), self.bias, window.of(self, self.transposed))
   return self.output
end

function SpatialConvolutionMap:updateGradInput(input, gradOutput)
   lib.conv_backward_data(self.gradInput, gradOutput, input, self:whole(),
      window.of(self, self.transposed))
   return self.gradInput
end

function SpatialConvolutionMap:accGradParameters(input, gradOutput, scale)
   local gradient = self.weight.new():resize(wholeSize(self)):zero()
   lib.conv_backward_weight(gradient, self.gradBias, input, gradOutput,
      window.of(self, self.transposed), scale or 1)
   local kernels = gradient:view(-1, self.kH * self.kW):index(1, self:kernelRows())
   self.gradWeight:add(1, kernels:viewAs(self.gradWeight))
end

--- Makes the hidden tensors anew after a change of type.
function SpatialConvolutionMap:type(typename, tensorCache)
   if typename then self._rows, self._whole = nil, nil end
   return parent.type(self, typename, tensorCache)
end

function SpatialConvolutionMap:clearState()
   self._rows, self._whole = nil, nil
   return parent.clearState(self)
end

return SpatialConvolutionMap
