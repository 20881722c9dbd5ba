--- nn.Log(): the natural logarithm, element by element.
-- Invariant: backward uses the input.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Log = torch.class('nn.Log', 'nn.Module')

pointwise.define(Log, {forward = 'log', backward = 'cdiv', of = 'input'})

return Log
