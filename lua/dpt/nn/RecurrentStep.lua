--- nn.RecurrentStep(module): wraps a recurrent module inside the clone of a network for one step.
-- Invariant: all steps share the module; output and gradInput belong to the step.
-- @function nn.RecurrentStep
-- @within nn recurrent
-- @as recurrent
-- @param module a recurrent module
-- @return a module; forward: one step
-- @usage torch.type(nn.RecurrentStep(nn.LSTM(3, 5))) --> nn.RecurrentStep

local torch = require 'dpt.tensor'

local RecurrentStep = torch.class('nn.RecurrentStep', 'nn.Decorator')

return RecurrentStep
