--- nn.RecurrentStep(module): a recurrent module inside the copy of a network for one step.
-- Invariant: the module is the same in all steps, output and gradInput are the step's.
-- @function nn.RecurrentStep
-- @within nn recurrent
-- @as recurrent
-- @param module a recurrent module
-- @return a module; forward: one step
-- @usage torch.type(nn.RecurrentStep(nn.LSTM(3, 5))) --> nn.RecurrentStep

local torch = require 'dpt.tensor'

local RecurrentStep = torch.class('nn.RecurrentStep', 'nn.Decorator')

return RecurrentStep
