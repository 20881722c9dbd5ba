--- nn.Recursor(module, rho): applies any module to a sequence, one step per call.
-- Invariant: each step has a clone of the module that shares its parameters. Inner recurrent
-- modules are not cloned: they count their own steps, and forget() resets them as well.
-- @function nn.Recursor
-- @within nn recurrent
-- @as recurrent
-- @param module the module of one step
-- @return a module; forward: one step: the module's input -> its output
-- @usage nn.Recursor(nn.Linear(3, 5)):forward(torch.ones(2, 3)):size() --> 2x5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local Recursor, parent = torch.class('nn.Recursor', 'nn.AbstractRecurrent')

-- Calls a method of each recurrent module inside `module`, but not of modules inside these.
local function callAll(module, method)
   for _, child in ipairs(module.modules or {}) do
      if torch.isTypeOf(child, 'nn.AbstractRecurrent') then
         child[method](child)
      else
         callAll(child, method)
      end
   end
end

function Recursor:__init(module, rho)
   parent.__init(self, module, rho)
end

for _, method in ipairs{'forget', 'continue'} do
   Recursor[method] = function(self)
      callAll(self, method)
      return parent[method](self)
   end
end

function Recursor:callCell(cell, input)
   return input, cell:updateOutput(input)
end

function Recursor:backCell(cell, _, gradOutput, _, input)
   return cell:updateGradInput(input, gradOutput)
end

function Recursor:accCell(cell, given, gradOutput, scale)
   cell:accGradParameters(given, gradOutput, scale)
end

Recursor.__tostring__ = nn.Decorator.__tostring__

return Recursor
