--- nn.Decorator(module): wraps one module; subclasses override the methods that they change.
-- Invariant: all methods are forwarded; output and gradInput are the inner module's.
-- @function nn.Decorator
-- @within nn containers
-- @as layer
-- @return a module; forward: the module's input -> its output
-- @usage nn.Decorator(nn.Square()):forward(torch.Tensor{3}) --> [9]

local torch = require 'dpt.tensor'

local Decorator, parent = torch.class('nn.Decorator', 'nn.Container')
Decorator.leavesGradients = true

function Decorator:__init(module)
   parent.__init(self)
   self.modules[1] = module
end

function Decorator:updateOutput(input)
   self.output = self.modules[1]:updateOutput(input)
   return self.output
end

function Decorator:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[1]:updateGradInput(input, gradOutput)
   return self.gradInput
end

function Decorator:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, gradOutput, scale)
end

function Decorator:accUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:accUpdateGradParameters(input, gradOutput, lr)
end

function Decorator:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:sharedAccUpdateGradParameters(input, gradOutput, lr)
end

function Decorator:__tostring__()
   return torch.type(self) .. ' @ ' .. tostring(self.modules[1])
end

--- Adds these methods to another class, for classes with two parents.
-- @function nn.Decorator.decorate
-- @as author
-- @also nn.Decorator:decorate()
-- @param class table: the method table of a class
-- @return nothing
-- @usage local c = {modules = {nn.Identity()}}
--    nn.Decorator.decorate(c)
--    return c:updateOutput(torch.ones(2)) --> [1 1]
function Decorator.decorate(class)
   for _, name in ipairs{'updateOutput', 'updateGradInput', 'accGradParameters',
      'accUpdateGradParameters', 'sharedAccUpdateGradParameters', '__tostring__'} do
      class[name] = Decorator[name]
   end
end

return Decorator
