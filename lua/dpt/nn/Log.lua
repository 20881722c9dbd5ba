--- nn.Log(): y = ln x, element by element.
-- Invariant: backward uses the input.
-- @function nn.Log
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor of positive numbers -> the same size
-- @usage nn.Log():forward(torch.Tensor{1, 10}) --> [0 2.303]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Log = torch.class('nn.Log', 'nn.Module')

pointwise.define(Log, {forward = 'log', backward = 'cdiv', of = 'input'})

return Log
