--- nn.Normalize(p, eps): y = x / |x|_p for a vector or each row of a matrix; p may be math.huge.
-- Invariant: eps (1e-10) is added to |x|_p^p (for p = math.huge to |x|_p), so zero rows stay zero.
-- @function nn.Normalize
-- @within nn transfer
-- @as layer
-- @param p the exponent of the norm; math.huge for the largest |x|
-- @return a module; forward: B x n or n -> the same size
-- @usage nn.Normalize(2):forward(torch.Tensor{3, 4}) --> [0.6 0.8]

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, raise, type = dptffi.fail, dptffi.raise, dptffi.type

local Normalize, parent = torch.class('nn.Normalize', 'nn.Module')

function Normalize:__init(p, eps)
   parent.__init(self)
   if type(p) ~= 'number' or p <= 0 then
      raise("nn.Normalize: argument 'p' is " .. tostring(p) .. ', wanted a number above 0')
   end
   self.p = p
   self.eps = eps or 1e-10
end

local function rows(t)
   if t:dim() > 2 or t:dim() < 1 then
      fail('nn.Normalize: input has %d dimensions, wanted 1 or 2', t:dim())
   end
   return t:dim() == 1 and t:contiguous():view(1, -1) or t
end

--- Returns |x|_p of each row, N x 1; for p = math.huge also the indices of the largest elements.
-- @function nn.Normalize:lengths
-- @as author
-- @param x tensor: rows
-- @return N x 1
-- @usage nn.Normalize(1):lengths(torch.Tensor{{3, 4}}):round() --> [7]
function Normalize:lengths(x)
   if self.p == math.huge then
      local largest, index = torch.max(torch.abs(x), 2)
      return largest:add(self.eps), index
   end
   return torch.abs(x):pow(self.p):sum(2):add(self.eps):pow(1 / self.p)
end

function Normalize:updateOutput(input)
   local x = rows(input)
   local lengths = self:lengths(x)
   self.output:resizeAs(x):copy(x):cdiv(lengths:expandAs(x))
   if input:dim() == 1 then self.output:resize(input:size()) end
   return self.output
end

-- d/dx_i = g_i / n - (g x) / n^2 dn/dx_i, with dn/dx_i = x_i |x_i|^(p-2) / n^(p-1)
function Normalize:updateGradInput(input, gradOutput)
   local x, g = rows(input), rows(gradOutput)
   local n, index = self:lengths(x)
   local slope
   if index then
      local picked = torch.sign(x):gather(2, index)
      slope = x.new():resizeAs(x):zero():scatter(2, index, picked)
   else
      slope = torch.abs(x):pow(self.p - 1):cmul(torch.sign(x))
      slope:cdiv(torch.pow(n, self.p - 1):expandAs(x))
   end
   local along = torch.cmul(g, x):sum(2):cdiv(torch.cmul(n, n))
   self.gradInput:resizeAs(x):copy(g):cdiv(n:expandAs(x))
      :addcmul(-1, slope, along:expandAs(x))
   if input:dim() == 1 then self.gradInput:resize(input:size()) end
   return self.gradInput
end

function Normalize:__tostring__()
   return ('%s(%s)'):format(torch.type(self), self.p == math.huge and 'inf' or tostring(self.p))
end

return Normalize
