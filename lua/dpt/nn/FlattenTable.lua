--- nn.FlattenTable(): the tensors of nested tables in one list, depth first.
-- What must stay true: outputs are the input's own tensors; gradInput has the nesting of the input
-- and holds gradOutput's own tensors.

local torch = require 'dpt.tensor'

local FlattenTable, parent = torch.class('nn.FlattenTable', 'nn.Module')

function FlattenTable:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
end

local function flatten(list, value)
   if type(value) == 'table' then
      for _, entry in ipairs(value) do flatten(list, entry) end
   else
      list[#list + 1] = value
   end
   return list
end

-- Puts the list's tensors, from place `at`, into a table nested like `form`.
local function nest(list, form, at)
   if type(form) ~= 'table' then return list[at], at + 1 end
   local nested = {}
   for i, entry in ipairs(form) do nested[i], at = nest(list, entry, at) end
   return nested, at
end

function FlattenTable:updateOutput(input)
   self.output = flatten({}, input)
   return self.output
end

function FlattenTable:updateGradInput(input, gradOutput)
   self.gradInput = nest(gradOutput, input, 1)
   return self.gradInput
end

function FlattenTable:type(typename, tensorCache)
   if typename then
      self.output = {}
      self.gradInput = {}
   end
   return parent.type(self, typename, tensorCache)
end

return FlattenTable
