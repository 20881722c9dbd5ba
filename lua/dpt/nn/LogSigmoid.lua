--- nn.LogSigmoid(): log(1 / (1 + e^-x)), element by element.
-- Invariant: exact also far from 0.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local LogSigmoid = torch.class('nn.LogSigmoid', 'nn.Module')

pointwise.define(LogSigmoid, {
   forward = 'logsigmoid', backward = 'logsigmoid_backward', of = 'input',
})

return LogSigmoid
