--- nn.Threshold(th, v, ip): keeps x where x > th and replaces it by v elsewhere.
-- Invariant: in place, v is at most th, so that backward can tell from the output where x > th.
-- @function nn.Threshold
-- @within nn transfer
-- @as layer
-- @param th threshold above which elements are kept (1e-6)
-- @param v value that replaces the other elements (0)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Threshold(1, 7):forward(torch.Tensor{0, 2}) --> [7 2]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'
local usage = require('dpt.tensor.core').usage
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local Threshold, parent = torch.class('nn.Threshold', 'nn.Module')

function Threshold:__init(th, v, ip)
   parent.__init(self)
   self.threshold = th or 1e-6
   self.val = v or 0
   if type(self.threshold) ~= 'number' or type(self.val) ~= 'number' then
      usage('nn.Threshold', 'numbers (th, v)', th, v)
   end
   self.inplace = ip or false
   self:validateParameters()
end

--- Raises if the module cannot work in place with its value `val`.
-- @function nn.Threshold:validateParameters
-- @as author
-- @return nothing
-- @usage local m = nn.Threshold(0, 0, true)
--    m.val = 5
--    return select(2, pcall(m.validateParameters, m)):match 'requires.*'
--    --> requires a value of at most the threshold 0, got 5
function Threshold:validateParameters()
   self.inplace = self.inplace or false
   if self.inplace and self.val > self.threshold then
      fail('nn.Threshold: inplace requires a value of at most the threshold %g, got %g',
         self.threshold, self.val)
   end
end

pointwise.define(Threshold, {
   forward = 'threshold', backward = 'threshold_backward', of = 'input', p = 'threshold', q = 'val',
})

return Threshold
