--- nn.RecurrentStep(module): a recurrent module inside the copy of a network for one step.
-- Invariant: the module is the same in all steps, output and gradInput are the step's.

local torch = require 'dpt.tensor'

local RecurrentStep = torch.class('nn.RecurrentStep', 'nn.Decorator')

return RecurrentStep
