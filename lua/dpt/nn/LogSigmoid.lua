--- nn.LogSigmoid(): y = log(1 / (1 + e^-x)), element by element.
-- Invariant: accurate for large |x|, too.
-- @function nn.LogSigmoid
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.LogSigmoid():forward(torch.Tensor{0, 5}) --> [-0.6931 -0.006715]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local LogSigmoid = torch.class('nn.LogSigmoid', 'nn.Module')

pointwise.define(LogSigmoid, {
   forward = 'logsigmoid', backward = 'logsigmoid_backward', of = 'input',
})

return LogSigmoid
