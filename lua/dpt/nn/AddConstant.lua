--- nn.AddConstant(constant, ip): adds a number to every element, or a vector to every row.
-- Invariant: with ip (in place) output shares the input's memory, and backward restores the input.
-- @function nn.AddConstant
-- @within nn linear
-- @as layer
-- @param constant a number, or a vector with one number per column
-- @return a module; forward: any tensor -> the same size
-- @usage nn.AddConstant(3):forward(torch.Tensor{1, 2}) --> [4 5]

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local AddConstant, parent = torch.class('nn.AddConstant', 'nn.Module')

function AddConstant:__init(constant, ip)
   parent.__init(self)
   if type(constant) ~= 'number' and not torch.isTensor(constant) then
      fail("nn.AddConstant: argument 'constant' is of type %s, wanted a number or a vector",
         torch.type(constant))
   end
   self.constant_scalar = constant
   self.inplace = ip or false
end

--- Adds sign * constant to a tensor in place.
-- @function nn.AddConstant:addTo
-- @as author
-- @param t tensor: of the input's size
-- @param sign number: 1 or -1
-- @return the tensor
-- @usage nn.AddConstant(3):addTo(torch.Tensor{1}, -1) --> [-2]
function AddConstant:addTo(t, sign)
   local constant = self.constant_scalar
   if type(constant) == 'number' then return t:add(sign * constant) end
   local n = constant:nElement()
   if t:dim() < 1 or t:dim() > 2 or t:size(t:dim()) ~= n then
      fail('nn.AddConstant: input of size %s, wanted a vector or rows of %d elements',
         table.concat(t:size():totable(), 'x'), n)
   end
   constant = constant:contiguous():view(-1)
   return t:add(sign, t:dim() == 2 and constant:view(1, n):expandAs(t) or constant)
end

function AddConstant:updateOutput(input)
   if self.inplace then
      self:addTo(input, 1)
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input)
      self:addTo(self.output, 1)
   end
   return self.output
end

function AddConstant:updateGradInput(input, gradOutput)
   if self.inplace then
      self.gradInput:set(gradOutput)
      self:addTo(input, -1)
   else
      self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   end
   return self.gradInput
end

return AddConstant
