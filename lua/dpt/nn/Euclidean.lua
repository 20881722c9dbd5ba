--- nn.Euclidean(inputSize, outputSize): the Euclidean distance to each column w_j of the weight,
-- y_j = |x - w_j|.
-- Invariant: backward divides by y_j + 1e-7, so the gradient is 0 if x = w_j.
-- @function nn.Euclidean
-- @within nn linear
-- @as layer
-- @return a module; forward: B x inputSize or inputSize -> B x outputSize or outputSize
-- @usage nn.Euclidean(3, 2):forward(torch.ones(4, 3)):size() --> 4x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local Euclidean, parent = torch.class('nn.Euclidean', 'nn.Module')

function Euclidean:__init(inputSize, outputSize)
   parent.__init(self)
   self.weight = torch.Tensor(inputSize, outputSize)
   self.gradWeight = torch.Tensor(inputSize, outputSize):zero()
   self:reset()
   self.fastBackward = true
end

function Euclidean:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(1))
   self.weight:uniform(-stdv, stdv)
end

--- Returns x - w_j for each row and column, N x inputSize x outputSize, in a new tensor.
-- @function nn.Euclidean:differences
-- @as author
-- @param input tensor: N x inputSize, or a vector
-- @return N x inputSize x outputSize
-- @usage nn.Euclidean(2, 3):differences(torch.ones(4, 2)):size() --> 4x2x3
function Euclidean:differences(input)
   local inputSize, outputSize = self.weight:size(1), self.weight:size(2)
   local rows = nn.utils.contiguousView(nil, input, -1, inputSize, 1)
   local n = rows:size(1)
   if input:size(input:dim()) ~= inputSize or input:dim() > 2 then
      fail('%s: input of size %s, wanted (N)x%d', torch.type(self),
         table.concat(input:size():totable(), 'x'), inputSize)
   end
   return input.new():resize(n, inputSize, outputSize)
      :copy(rows:expand(n, inputSize, outputSize))
      :add(-1, self.weight:view(1, inputSize, outputSize):expand(n, inputSize, outputSize))
end

--- Returns gradOutput_j / (y_j + 1e-7), expanded to the size of the differences.
-- @function nn.Euclidean:factors
-- @as author
-- @param gradOutput tensor: of the output
-- @param like tensor: the differences
-- @return a tensor of their size
-- @usage local m, x = nn.Euclidean(2, 3), torch.ones(4, 2)
--    m:forward(x)
--    return m:factors(torch.ones(4, 3), m:differences(x)):size() --> 4x2x3
function Euclidean:factors(gradOutput, like)
   local quotient = torch.cdiv(gradOutput, torch.add(self.output, 1e-7))
   return quotient:view(like:size(1), 1, like:size(3)):expandAs(like)
end

--- Computes the output, the norms |x - w_j| of the differences.
-- @function nn.Euclidean:measure
-- @as author
-- @param input tensor: N x inputSize, or a vector
-- @param differences tensor: of the input
-- @return the output
-- @usage local m, x = nn.Euclidean(2, 3), torch.ones(4, 2)
--    return m:measure(x, m:differences(x)):size() --> 4x3
function Euclidean:measure(input, differences)
   local lengths = differences:norm(2, 2)
   if input:dim() == 1 then
      self.output:resize(lengths:size(3))
   else
      self.output:resize(lengths:size(1), lengths:size(3))
   end
   return self.output:copy(lengths)
end

function Euclidean:updateOutput(input)
   return self:measure(input, self:differences(input))
end

function Euclidean:updateGradInput(input, gradOutput)
   local differences = self:differences(input)
   differences:cmul(self:factors(gradOutput, differences))
   self.gradInput:resizeAs(input):copy(differences:sum(3))
   return self.gradInput
end

function Euclidean:accGradParameters(input, gradOutput, scale)
   local differences = self:differences(input)
   differences:cmul(self:factors(gradOutput, differences))
   self.gradWeight:add(-(scale or 1), differences:sum(1))
end

return Euclidean
