--- nn.RecurrentStep(module): wraps a recurrent module that is part of a network, for the clone of
-- the network that computes one step.
-- Invariant: the wrappers of all steps share the module; each has its own output and gradInput.
-- @function nn.RecurrentStep
-- @within nn recurrent
-- @as recurrent
-- @param module a recurrent module
-- @return a module; forward: one step
-- @usage torch.type(nn.RecurrentStep(nn.LSTM(3, 5))) --> nn.RecurrentStep

local torch = require 'dpt.tensor'

local RecurrentStep = torch.class('nn.RecurrentStep', 'nn.Decorator')

return RecurrentStep
