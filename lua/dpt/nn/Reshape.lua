--- nn.Reshape(sizes, batchMode): returns the input's elements with other sizes.
-- Invariant: one size may be -1, which is inferred. batchMode = true keeps the first dimension as
-- the batch; false reshapes all elements. If omitted, the input is a batch unless its number of
-- elements equals the product of the sizes and its first size is not 1.
-- @function nn.Reshape
-- @within nn simple
-- @as layer
-- @return a module; forward: a batch B x ... -> B x sizes; a tensor whose number of elements equals
--    the product of the sizes -> sizes
-- @usage nn.Reshape(6):forward(torch.ones(4, 2, 3)):size() --> 4x6

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, raise, type = dptffi.fail, dptffi.raise, dptffi.type

local Reshape, parent = torch.class('nn.Reshape', 'nn.Module')

function Reshape:__init(...)
   parent.__init(self)
   local arguments = {...}
   local n = #arguments
   if type(arguments[n]) == 'boolean' then
      self.batchMode = arguments[n]
      arguments[n] = nil
   end
   local sizes = torch.isStorage(arguments[1]) and arguments[1]:totable() or arguments
   if #sizes == 0 then raise('nn.Reshape: wanted at least one size') end
   self.size = torch.LongStorage(sizes)
   local batched = {0}
   self.nelement = 1
   for i, size in ipairs(sizes) do
      self.nelement = self.nelement * size
      batched[i + 1] = size
   end
   self.batchsize = torch.LongStorage(batched)
end

function Reshape:updateOutput(input)
   local single = self.batchMode == false or self.batchMode == nil
      and input:nElement() == self.nelement and input:size(1) ~= 1
   local size = self.size
   if not single then
      self.batchsize[1] = input:size(1)
      size = self.batchsize
   end
   local wanted = single and self.nelement or self.nelement * input:size(1)
   if self.nelement >= 0 and input:nElement() ~= wanted then -- with a size of -1 view checks
      fail('nn.Reshape: input has %d elements (size %s), wanted %d for size %s',
         input:nElement(), table.concat(input:size():totable(), 'x'), wanted,
         table.concat(size:totable(), 'x'))
   end
   self.output = nn.utils.viewAgain(self.output, input, size)
   return self.output
end

function Reshape:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.viewAgain(self.gradInput, gradOutput, input:size())
   return self.gradInput
end

function Reshape:__tostring__()
   return torch.type(self) .. '(' .. table.concat(self.size:totable(), 'x') .. ')'
end

return Reshape
