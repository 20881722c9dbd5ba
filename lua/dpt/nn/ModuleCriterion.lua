--- nn.ModuleCriterion(criterion, inputModule, targetModule, castTarget): applies modules to the
-- input and the target before a criterion. Either module may be nil.
-- Invariant: the gradient is backpropagated through inputModule only.
-- @function nn.ModuleCriterion
-- @within nn criterions
-- @as criterion
-- @param inputModule the module for inputs
-- @param targetModule the module for targets
-- @param castTarget false: :type() does not convert targetModule
-- @return a criterion; forward takes the modules' inputs, returns the loss
-- @usage nn.ModuleCriterion(nn.MSECriterion(), nn.Square()) :forward(torch.Tensor{2},
--       torch.Tensor{5}) --> 1

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local ModuleCriterion, parent = torch.class('nn.ModuleCriterion', 'nn.Criterion')

function ModuleCriterion:__init(criterion, inputModule, targetModule, castTarget)
   parent.__init(self)
   self.inputModule = inputModule
   self.targetModule = targetModule
   self.castTarget = castTarget == nil and true or castTarget
   if self.inputModule then
      local params = self.inputModule:parameters()
      if params and #params > 0 then
         io.stderr:write('nn.ModuleCriterion: the parameters of the input module are not learned\n')
      end
   end
   self.criterion = criterion
end

-- Returns the input and target that the criterion gets.
local function seen(self, input, target)
   if self.inputModule then
      self.input = self.inputModule:forward(input)
   else
      self.input = input
   end
   if self.targetModule then
      self.target = self.targetModule:forward(target)
   else
      self.target = target
   end
   return self.input, self.target
end

function ModuleCriterion:updateOutput(input, target)
   self.output = self.criterion:forward(seen(self, input, target))
   return self.output
end

function ModuleCriterion:terms(input, target)
   return self.criterion:terms(seen(self, input, target))
end

function ModuleCriterion:denominators(list)
   local first = #list + 1
   self.criterion:denominators(list, self.input, self.target)
   for k = self.inputModule and first or #list + 1, #list do
      list[k].entry = nil -- the module may have mixed the entries
   end
   return list
end

function ModuleCriterion:updateGradInput(input, _)
   self.gradInput = self.criterion:partGradient(self.input, self.target)
   if self.inputModule then
      self.gradInput = self.inputModule:updateGradInput(input, self.gradInput)
   end
   return self.gradInput
end

function ModuleCriterion:type(typename, tensorCache)
   if not typename then return self._type end
   tensorCache = tensorCache or {}
   if self.inputModule then self.inputModule:type(typename, tensorCache) end
   if self.targetModule and self.castTarget then self.targetModule:type(typename, tensorCache) end
   self.criterion:type(typename, tensorCache)
   self.gradInput = nn.utils.recursiveType(self.gradInput, typename, tensorCache)
   self._type = typename
   return self
end

return ModuleCriterion
