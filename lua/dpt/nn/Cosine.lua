--- nn.Cosine(inputSize, outputSize): the cosine similarity of the input and each row w_j of the
-- weight, y_j = w_j x / (|w_j| |x|).
-- Invariant: 1e-12 is added to the norms, so the cosine of a zero vector is 0.
-- @function nn.Cosine
-- @within nn linear
-- @as layer
-- @return a module; forward: B x inputSize or inputSize -> B x outputSize or outputSize,
--    between -1 and 1
-- @usage nn.Cosine(3, 2):forward(torch.ones(4, 3)):size() --> 4x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local Cosine, parent = torch.class('nn.Cosine', 'nn.Module')

function Cosine:__init(inputSize, outputSize)
   parent.__init(self)
   self.weight = torch.Tensor(outputSize, inputSize)
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   self:reset()
end

function Cosine:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(1))
   self.weight:uniform(-stdv, stdv)
end

local function rows(t)
   return nn.utils.contiguousView(nil, t, -1, t:size(t:dim()))
end

-- Returns |x| of each row, N x 1.
local function lengths(t)
   return t:norm(2, 2):add(1e-12)
end

-- Returns the rows divided by their norms.
local function units(t, norms)
   return torch.cdiv(t, norms:expandAs(t))
end

function Cosine:updateOutput(input)
   local x = rows(input)
   local cosines = torch.mm(units(x, lengths(x)), units(self.weight, lengths(self.weight)):t())
   if input:dim() == 1 then
      self.output:resize(self.weight:size(1))
   else
      self.output:resizeAs(cosines)
   end
   self.output:copy(cosines)
   return self.output
end

-- d/dx = (w/|w| - y x/|x|) / |x|, summed over the outputs
function Cosine:updateGradInput(input, gradOutput)
   local x, g, y = rows(input), rows(gradOutput), rows(self.output)
   local norms = lengths(x)
   local gradient = torch.mm(g, units(self.weight, lengths(self.weight)))
   local along = torch.cmul(g, y):sum(2):expandAs(x)
   gradient:add(-1, torch.cmul(along, units(x, norms))):cdiv(norms:expandAs(x))
   self.gradInput:resizeAs(input):copy(gradient)
   return self.gradInput
end

function Cosine:accGradParameters(input, gradOutput, scale)
   local x, g, y = rows(input), rows(gradOutput), rows(self.output)
   local norms = lengths(self.weight)
   local gradient = torch.mm(g:t(), units(x, lengths(x)))
   local along = torch.cmul(g, y):sum(1):view(-1, 1):expandAs(self.weight)
   gradient:add(-1, torch.cmul(along, units(self.weight, norms)))
      :cdiv(norms:expandAs(self.weight))
   self.gradWeight:add(scale or 1, gradient)
end

return Cosine
