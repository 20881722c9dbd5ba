--- nn.GELU(approximate): y = x P(X <= x) for a standard normal X, element by element. With 'tanh',
-- P is approximated by (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
-- Invariant: backward uses the input.
-- @function nn.GELU
-- @within nn transfer
-- @as layer
-- @follows PyTorch's GELU
-- @param approximate? string: 'none' or 'tanh' ('none')
-- @return a module; forward: any tensor -> the same size
-- @raise if approximate is another string
-- @usage nn.GELU():forward(torch.Tensor{0, 2}), nn.GELU('tanh'):forward(torch.Tensor{0, 2})
--    --> [0 1.954], [0 1.955]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'
local fail = require('dpt.ffi').fail

local GELU, parent = torch.class('nn.GELU', 'nn.Module')

GELU.outputSplit = GELU.sameSplit

function GELU:__init(approximate)
   parent.__init(self)
   self.approximate = approximate or 'none'
   if self.approximate ~= 'none' and self.approximate ~= 'tanh' then
      fail("nn.GELU: argument 'approximate' is '%s', wanted 'none' or 'tanh'", self.approximate)
   end
end

local forward, backward = {}, {}
for approximate, name in pairs{none = 'gelu', tanh = 'gelu_tanh'} do
   forward[approximate], backward[approximate] = pointwise.passes{
      forward = name, backward = name .. '_backward', of = 'input',
   }
end

function GELU:updateOutput(input) return forward[self.approximate](self, input) end

function GELU:updateGradInput(input, gradOutput)
   return backward[self.approximate](self, input, gradOutput)
end

return GELU
