--- nn.NaN(module, id): raises if the output, the gradInput or a gradient of the inner module
-- contains a NaN.
-- Invariant: it reads values, so it waits for the device; use it for debugging only.
-- @function nn.NaN
-- @within nn containers
-- @as layer
-- @param id a name for the error message
-- @return a module; forward: the module's input -> its output
-- @usage local m = nn.NaN(nn.Log(), 'fc1')
--    return select(2, pcall(m.forward, m, torch.Tensor{-1})):match '[^\n]*$'
--    --> nn.NaN(fc1) @ nn.Log

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local NaN, parent = torch.class('nn.NaN', 'nn.Decorator')

local counter = 0

function NaN:__init(module, id)
   parent.__init(self, module)
   counter = counter + 1
   self.id = id or counter
end

local function hasNaN(value)
   if torch.isTensor(value) then
      if value:nElement() == 0 then return false end
      local sum = value:sum()
      return sum ~= sum and value:ne(value):sum() > 0
   end
   for _, entry in pairs(type(value) == 'table' and value or {}) do
      if hasNaN(entry) then return true end
   end
   return false
end

--- Raises if a value contains a NaN, and names its origin.
-- @function nn.NaN:check
-- @as author
-- @param value tensor: or table
-- @param what string: name of the value, for the error message
-- @param ...? any: the values from which it was computed, each followed by its name; the error
--    names those that contain a NaN as the cause
-- @return nothing
-- @usage local m = nn.NaN(nn.Tanh(), 'fc1')
--    return select(2, pcall(m.check, m, torch.Tensor{0 / 0}, 'output')):match 'NaN found in %w+'
--    --> NaN found in output
function NaN:check(value, what, ...)
   if not hasNaN(value) then return end
   for i = 1, select('#', ...), 2 do
      local cause, name = select(i, ...)
      if hasNaN(cause) then
         what = name
         break
      end
   end
   fail('nn.NaN: NaN found in %s of module :\n%s', what, tostring(self))
end

function NaN:updateOutput(input)
   self.output = self.modules[1]:updateOutput(input)
   self:check(self.output, 'output', input, 'input', (self:parameters()), 'parameters')
   return self.output
end

function NaN:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[1]:updateGradInput(input, gradOutput)
   self:check(self.gradInput, 'gradInput', gradOutput, 'gradOutput')
   return self.gradInput
end

function NaN:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, gradOutput, scale)
   local _, gradients = self:parameters()
   self:check(gradients, 'gradParameters')
end

function NaN:__tostring__()
   return torch.type(self) .. '(' .. self.id .. ') @ ' .. tostring(self.modules[1])
end

return NaN
