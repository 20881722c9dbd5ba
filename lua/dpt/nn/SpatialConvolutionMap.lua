--- nn.SpatialConvolutionMap(conMatrix, kW, kH, dW, dH): applies a 2-D convolution that connects
-- only the pairs {input plane, output plane} in the rows of a table.
-- Invariant: weight holds one kH x kW kernel for each row. The module computes a full convolution
-- in which all other kernels are zero. Input planes after the last one in the table are ignored.
-- @function nn.SpatialConvolutionMap
-- @within nn convolution
-- @as layer
-- @param conMatrix n x 2: pairs of connected input and output planes (see nn.tables)
-- @return a module; forward: B x planes x H x W or one image -> B x the table's outputs x (H -
--    kH) / dH + 1 x (W - kW) / dW + 1
-- @usage nn.SpatialConvolutionMap(nn.tables.oneToOne(3), 3, 3)
--       :forward(torch.ones(3, 6, 6)) :size() --> 3x4x4

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib
local nn = require 'dpt.nn'
local window = require 'dpt.nn.window'

local SpatialConvolutionMap, parent = torch.class('nn.SpatialConvolutionMap', 'nn.Module')

--- True if the class is a transposed convolution.
-- @field nn.SpatialConvolutionMap.transposed
-- @as author
-- @return a boolean
-- @usage nn.SpatialConvolutionMap.transposed, nn.SpatialFullConvolutionMap.transposed
--    --> false, true
SpatialConvolutionMap.transposed = false

function SpatialConvolutionMap:__init(conMatrix, kW, kH, dW, dH)
   parent.__init(self)
   if conMatrix:dim() ~= 2 or conMatrix:size(2) ~= 2 then
      fail("%s: argument 'conMatrix', wanted rows {input plane, output plane}, got size %s",
         torch.type(self), table.concat(conMatrix:size():totable(), 'x'))
   end
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

--- Initializes parameters uniformly in +-1/sqrt(kW kH inputs of the output plane).
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

--- Returns the rows of the full convolution's kernels that the table names, on the weight's side
-- (host or device).
-- @function nn.SpatialConvolutionMap:kernelRows
-- @as author
-- @return a LongTensor
-- @usage nn.SpatialConvolutionMap(nn.tables.oneToOne(2), 1, 1):kernelRows():nElement() --> 2
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

--- Returns the weight of the full convolution.
-- @function nn.SpatialConvolutionMap:whole
-- @as author
-- @return a view
-- @usage nn.SpatialConvolutionMap(nn.tables.oneToOne(2), 3, 3):whole():nElement() --> 36
function SpatialConvolutionMap:whole()
   local kernels = self.nInputPlane * self.nOutputPlane
   self._whole = self._whole or self.weight.new()
   self._whole:resize(kernels, self.kH * self.kW):zero()
      :indexAdd(1, self:kernelRows(), self.weight:view(-1, self.kH * self.kW))
   return self._whole:view(wholeSize(self))
end

-- Returns the connected planes of the input or of a tensor with the input's sizes.
local function connected(self, t)
   local planes = t:dim() - 2
   if t:dim() < 3 or t:size(planes) <= self.nInputPlane then return t end
   return t:narrow(planes, 1, self.nInputPlane)
end

function SpatialConvolutionMap:updateOutput(input)
   lib.conv_forward(self.output, connected(self, input), self:whole(), self.bias,
      window.of(self, self.transposed))
   return self.output
end

function SpatialConvolutionMap:updateGradInput(input, gradOutput)
   local x = connected(self, input)
   local gradient = rawequal(x, input) and self.gradInput or input.new()
   lib.conv_backward_data(gradient, gradOutput, x, self:whole(), window.of(self, self.transposed))
   if not rawequal(gradient, self.gradInput) then
      self.gradInput:resizeAs(input):zero()
      connected(self, self.gradInput):copy(gradient)
   end
   return self.gradInput
end

function SpatialConvolutionMap:accGradParameters(input, gradOutput, scale)
   local gradient = self.gradWeight.new():resize(wholeSize(self)):zero()
   lib.conv_backward_weight(gradient, self.gradBias, connected(self, input), gradOutput,
      window.of(self, self.transposed), scale or 1)
   local kernels = gradient:view(-1, self.kH * self.kW):index(1, self:kernelRows())
   self.gradWeight:add(1, kernels:viewAs(self.gradWeight))
end

--- Decays the parameters: multiplies them by 1 - decay.
-- @function nn.SpatialConvolutionMap:decayParameters
-- @as method
-- @within nn convolution
-- @param decay number: fraction to subtract
-- @return nothing
-- @usage local m = nn.SpatialConvolutionMap(nn.tables.full(1, 1), 1, 1)
--    m.weight:fill(2)
--    m:decayParameters(0.5)
--    return m.weight --> [1]
function SpatialConvolutionMap:decayParameters(decay)
   self.weight:add(-decay, self.weight)
   self.bias:add(-decay, self.bias)
end

--- Discards the internal tensors when the type changes.
function SpatialConvolutionMap:type(typename, tensorCache)
   if typename then self._rows, self._whole = nil, nil end
   return parent.type(self, typename, tensorCache)
end

function SpatialConvolutionMap:clearState()
   self._rows, self._whole = nil, nil
   return parent.clearState(self)
end

return SpatialConvolutionMap
