--- nn.FlattenTable(): flattens nested tables of tensors into one list, depth first.
-- Invariant: nothing is copied: output holds the input's tensors, and gradInput holds the tensors
-- of gradOutput, nested like the input. The output table is reused while tensors and nesting stay
-- the same; input_map holds the index of each tensor, nested like the input.
-- @function nn.FlattenTable
-- @within nn tables
-- @as layer
-- @return a module; forward: nested tables of tensors -> one list
-- @usage #nn.FlattenTable():forward{torch.ones(1), {torch.ones(1), {torch.ones(1)}}} --> 3

local torch = require 'dpt.tensor'
local type = require('dpt.ffi').type

local FlattenTable, parent = torch.class('nn.FlattenTable', 'nn.Module')

function FlattenTable:__init()
   parent.__init(self)
   self.output, self.input_map, self.gradInput = {}, {}, {}
end

-- Appends the tensors of a value to a list; returns their indices, nested like the value.
local function flatten(list, value)
   if type(value) ~= 'table' then
      list[#list + 1] = value
      return #list
   end
   local indices = {}
   for i, entry in ipairs(value) do indices[i] = flatten(list, entry) end
   return indices
end

-- Returns true if a list holds a value's tensors at these indices.
local function holds(list, value, indices)
   if type(value) ~= 'table' then return rawequal(list[indices], value) end
   if type(indices) ~= 'table' or #indices ~= #value then return false end
   for i, entry in ipairs(value) do
      if not holds(list, entry, indices[i]) then return false end
   end
   return true
end

-- Returns the list's tensors, from index `at`, in a table nested like `form`.
local function nest(list, form, at)
   if type(form) ~= 'table' then return list[at], at + 1 end
   local nested = {}
   for i, entry in ipairs(form) do nested[i], at = nest(list, entry, at) end
   return nested, at
end

function FlattenTable:updateOutput(input)
   if not holds(self.output, input, self.input_map) then
      self.output = {}
      self.input_map = flatten(self.output, input)
   end
   return self.output
end

function FlattenTable:updateGradInput(input, gradOutput)
   self.gradInput = nest(gradOutput, input, 1)
   return self.gradInput
end

function FlattenTable:type(typename, tensorCache)
   if typename then self:clearState() end
   return parent.type(self, typename, tensorCache)
end

function FlattenTable:clearState()
   self.output, self.input_map, self.gradInput = {}, {}, {}
   return self
end

return FlattenTable
