--- nn.Exp(): e^x, element by element.
-- Invariant: backward uses the output.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Exp = torch.class('nn.Exp', 'nn.Module')

pointwise.define(Exp, {forward = 'exp', backward = 'cmul', of = 'output'})

return Exp
