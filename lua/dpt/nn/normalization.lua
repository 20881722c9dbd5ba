--- dpt.nn.normalization: layers that normalize each row of their input by itself.
--
-- Invariant: forward stores the rows' means and factors in the field save, which backward reads.
-- Parameters may be floats beside an input of a reduced type, as in PyTorch.

local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local dptffi = require 'dpt.ffi'
local fail, raise, type, lib = dptffi.fail, dptffi.raise, dptffi.type, dptffi.lib

local M = {}

--- Returns the sizes of a row as a list.
-- @param shape a number, a list or a LongStorage
function M.shapeOf(self, shape)
   local sizes = type(shape) == 'number' and {shape}
      or torch.isStorage(shape) and shape:totable() or shape
   local sound = type(sizes) == 'table' and #sizes > 0
   for _, size in ipairs(sound and sizes or {}) do
      sound = sound and type(size) == 'number' and size >= 1 and size % 1 == 0
   end
   if sound then return sizes end
   fail("%s: argument 'normalizedShape' is %s, wanted one or more sizes above 0", torch.type(self),
      type(sizes) == 'table' and '{' .. table.concat(sizes, ', ') .. '}' or tostring(sizes))
end

--- Returns the text of a layer: its class and the sizes of a row.
function M.text(self)
   return ('%s(%s)'):format(torch.type(self), table.concat(self.normalizedShape, 'x'))
end

--- Creates weight and, if asked, bias of the given sizes, with their gradients.
function M.allocate(self, sizes, bias)
   sizes = torch.LongStorage(sizes)
   self.weight, self.gradWeight = torch.Tensor(sizes), torch.Tensor(sizes):zero()
   if bias then
      self.bias, self.gradBias = torch.Tensor(sizes), torch.Tensor(sizes):zero()
   end
   self:reset()
end

local function reject(self, input, wanted)
   fail("%s: argument 'input' is of size %s, wanted %s", torch.type(self),
      table.concat(input:size():totable(), 'x'), wanted)
end

--- Return the number of rows of an input, of groups of parameters, and of planes of a row, whose
-- parameters differ. Raise if the input has other sizes. splitRows: a row has the last dimensions,
-- of sizes self.normalizedShape. splitPlanes: the planes of dimension 2 are divided into
-- self.numGroups rows; the input has at least `least` dimensions.
function M.splitRows(self, input)
   local sizes, planes = self.normalizedShape, 1
   local outer = input:dim() - #sizes
   for i, size in ipairs(sizes) do
      if outer < 0 or input:size(outer + i) ~= size then
         reject(self, input, 'the last sizes ' .. table.concat(sizes, 'x'))
      end
      planes = planes * size
   end
   return input:nElement() / planes, 1, planes
end
function M.splitPlanes(self, input, least)
   if input:dim() < least or input:size(2) ~= self.numChannels then
      reject(self, input, ('%d or more dimensions of which the second has size %d'):format(least,
         self.numChannels))
   end
   return input:size(1) * self.numGroups, self.numGroups, self.numChannels / self.numGroups
end

-- Returns the distance from 1 to the next number of a tensor's type.
local function epsilonOf(t) return t:type():find 'Double' and 2^-52 or 2^-23 end

--- Adds the passes to a class.
-- @param split one of the functions above
-- @param rms 1: divides by the root mean square, without subtracting the mean; otherwise 0
function M.define(class, parent, split, rms)
   local function rowsOf(self, input)
      local rows, groups, planes = split(self, input)
      return input:nElement() > 0 and rows or 0, groups, planes
   end

   function class:reset()
      if self.weight then self.weight:fill(1) end
      if self.bias then self.bias:zero() end
   end

   function class:updateOutput(input)
      local rows, groups, planes = rowsOf(self, input)
      local kind = core.computeKind(input.kind_)
      if not self.save or self.save.kind_ ~= kind then self.save = core.newTensor(kind) end
      lib.norm_forward(self.output, self.save, input, self.weight, self.bias, rows, groups, planes,
         rms, self.eps or epsilonOf(self.save))
      return self.output
   end

   local function backward(self, gradInput, gradWeight, gradBias, input, gradOutput, scale)
      if not self.save then raise(torch.type(self) .. ': backward wants a forward before it') end
      local rows, groups, planes = rowsOf(self, input)
      lib.norm_backward(gradInput, gradWeight, gradBias, input, gradOutput, self.weight, self.save,
         rows, groups, planes, rms, scale or 1)
      return self.gradInput
   end

   -- Computes all gradients in one pass.
   function class:backward(input, gradOutput, scale)
      return backward(self, self.gradInput, self.gradWeight, self.gradBias, input, gradOutput,
         scale)
   end

   function class:updateGradInput(input, gradOutput)
      return backward(self, self.gradInput, nil, nil, input, gradOutput)
   end

   function class:accGradParameters(input, gradOutput, scale)
      if self.weight then
         backward(self, nil, self.gradWeight, self.gradBias, input, gradOutput, scale)
      end
   end

   function class:clearState()
      self.save = nil
      return parent.clearState(self)
   end
end

return M
