--- nn.ZipTableOneToMany(): pairs one value with every entry of a table: {a, {b1, b2}} becomes
-- {{a, b1}, {a, b2}}.
-- Invariant: forward does not copy tensors. The gradient of a is the sum over the pairs.
-- @function nn.ZipTableOneToMany
-- @within nn tables
-- @as layer
-- @return a module; forward: {any value, table of n entries} -> n pairs
-- @usage #nn.ZipTableOneToMany() :forward{torch.ones(1), {torch.ones(2), torch.ones(3),
--       torch.ones(4)}} --> 3

local torch = require 'dpt.tensor'

local ZipTableOneToMany, parent = torch.class('nn.ZipTableOneToMany', 'nn.Module')

function ZipTableOneToMany:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
   self.gradInputEl = torch.Tensor()
end

function ZipTableOneToMany:updateOutput(input)
   self.output = {}
   for i, entry in ipairs(input[2]) do self.output[i] = {input[1], entry} end
   return self.output
end

function ZipTableOneToMany:updateGradInput(input, gradOutput)
   self.gradInputEl:resizeAs(input[1]):zero()
   local many = {}
   for i in ipairs(input[2]) do
      self.gradInputEl:add(1, gradOutput[i][1])
      many[i] = gradOutput[i][2]
   end
   self.gradInput = {self.gradInputEl, many}
   return self.gradInput
end

return ZipTableOneToMany
