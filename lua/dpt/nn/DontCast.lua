--- nn.DontCast(module, castin, castout, moduleType): wraps a module whose tensor type :type() does
-- not change. With castin and castout, inputs and outputs are converted to and from the module's
-- type.
-- Invariant: self._type is the outer type, self.moduleType the inner one.
-- @function nn.DontCast
-- @within nn containers
-- @as layer
-- @param castin true: inputs are converted to the module's type
-- @param castout true: outputs are converted to the caller's type
-- @param moduleType the type to keep (the module's)
-- @return a module; forward: the module's input -> its output
-- @usage nn.DontCast(nn.Linear(2, 2):float()):double():get(1).weight:type()
--    --> torch.FloatTensor

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local raise, type = dptffi.raise, dptffi.type

local DontCast, parent = torch.class('nn.DontCast', 'nn.Decorator')

function DontCast:__init(module, castin, castout, moduleType)
   parent.__init(self, module)
   self.castin = castin
   self.castout = castout == nil and castin or castout
   self.moduleType = moduleType or module:type()
   if castin and not self.moduleType then
      raise("nn.DontCast: argument 'castin' requires a module with a type, or moduleType")
   end
end

local function cast(value, typename)
   if type(value) == 'table' then
      local new = {}
      for k, v in pairs(value) do new[k] = cast(v, typename) end
      return new
   end
   if torch.type(value) == typename then return value end
   return torch.getmetatable(typename).new():resize(value:size()):copy(value)
end

--- Converts a value to the inner module's type, if castin is set.
-- @function nn.DontCast:inward
-- @as author
-- @param value tensor: or table
-- @return a tensor or table
-- @usage nn.DontCast(nn.Linear(2, 3):float(), true):inward(torch.ones(2)):type()
--    --> torch.FloatTensor
function DontCast:inward(value)
   return self.castin and cast(value, self.moduleType) or value
end

--- Converts a value to the outer type, if castout is set.
-- @function nn.DontCast:outward
-- @as author
-- @param value tensor: or table
-- @return a tensor or table
-- @usage local m = nn.DontCast(nn.Linear(2, 3):float(), true):double()
--    return m:outward(torch.FloatTensor(2)):type() --> torch.DoubleTensor
function DontCast:outward(value)
   return self.castout and value and cast(value, self._type) or value
end

function DontCast:updateOutput(input)
   self.output = self:outward(self.modules[1]:updateOutput(self:inward(input)))
   return self.output
end

function DontCast:updateGradInput(input, gradOutput)
   self.gradInput = self:outward(
      self.modules[1]:updateGradInput(self:inward(input), self:inward(gradOutput)))
   return self.gradInput
end

function DontCast:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(self:inward(input), self:inward(gradOutput), scale)
end

function DontCast:accUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:accUpdateGradParameters(self:inward(input), self:inward(gradOutput), lr)
end

function DontCast:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:sharedAccUpdateGradParameters(self:inward(input), self:inward(gradOutput), lr)
end

-- Converts this module's own tensors only, not the inner module.
function DontCast:type(typename, tensorCache)
   if not typename then return self._type end
   if self.castout then
      local inner = self.modules
      self.modules = nil
      parent.type(self, typename, tensorCache)
      self.modules = inner
   end
   return self
end

return DontCast
