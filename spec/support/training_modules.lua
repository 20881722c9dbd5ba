--- Modules of random training runs. Workers load them too, if replicas are in workers.
local dpt = require 'dpt'
local torch = dpt.torch

local M = {}

-- Raises in backward if its gradient is not finite.
local Finite, finiteParent = torch.class('dptspec.Finite', 'nn.Module', M)

function Finite:__init() finiteParent.__init(self) end

function Finite:updateOutput(input)
   self.output = input
   return input
end

function Finite:updateGradInput(_, gradOutput)
   if gradOutput:nElement() > 0 and (gradOutput * 0):sum() ~= 0 then error 'it is not finite' end
   self.gradInput = gradOutput
   return gradOutput
end

-- Branches, of which each rank chooses one for each pass.
local Turns, turnsParent = torch.class('dptspec.Turns', 'nn.Container', M)

function Turns:__init(...)
   turnsParent.__init(self)
   self.turn = 1
   for _, module in ipairs{...} do self:add(module) end
end

function Turns:updateOutput(input)
   self.output = self.modules[self.turn]:updateOutput(input)
   return self.output
end

function Turns:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[self.turn]:updateGradInput(input, gradOutput)
   return self.gradInput
end

function Turns:accGradParameters(input, gradOutput, scale)
   self.modules[self.turn]:accGradParameters(input, gradOutput, scale)
end

return M
