--- nn.SelectTable(index): selects one entry of the input table, by position (negative: from the
-- end) or by name.
-- Invariant: output is the entry itself. gradInput has the input's structure, with zeros in all
-- other entries.
-- @function nn.SelectTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table -> one of its entries
-- @usage nn.SelectTable(-1):forward{1, 2, torch.Tensor{7}} --> [7]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local SelectTable, parent = torch.class('nn.SelectTable', 'nn.Module')

function SelectTable:__init(index)
   parent.__init(self)
   self.index = index
   self.gradInput = {}
end

--- Returns the key that the module selects from an input.
-- @function nn.SelectTable:key
-- @as author
-- @param input table: of any length
-- @return a number, or the constructor's key
-- @usage nn.SelectTable(-1):key{5, 6, 7} --> 3
function SelectTable:key(input)
   if type(self.index) == 'number' and self.index < 0 then return #input + self.index + 1 end
   return self.index
end

--- Returns the entry's split; it is unknown if the index is negative.
function SelectTable:outputSplit(split)
   if type(split) ~= 'table' then return self:sameSplit(split) end
   return split[self.index]
end

function SelectTable:updateOutput(input)
   local output = input[self:key(input)]
   if output == nil then
      fail('nn.SelectTable: the input table has no entry %s', tostring(self.index))
   end
   self.output = output
   return output
end

function SelectTable:updateGradInput(input, gradOutput)
   if type(self.gradInput) ~= 'table' then self.gradInput = {} end
   local key = self:key(input)
   for k in pairs(self.gradInput) do
      if input[k] == nil then self.gradInput[k] = nil end
   end
   for k, value in pairs(input) do
      self.gradInput[k] = nn.utils.recursiveResizeAs(self.gradInput[k], value)
      if k ~= key then nn.utils.recursiveFill(self.gradInput[k], 0) end
   end
   self.gradInput[key] = nn.utils.recursiveCopy(self.gradInput[key], gradOutput)
   return self.gradInput
end

function SelectTable:type(typename, tensorCache)
   if typename then
      self.gradInput = {}
      self.output = {}
   end
   return parent.type(self, typename, tensorCache)
end

function SelectTable:__tostring__()
   return ('%s(%s)'):format(torch.type(self), tostring(self.index))
end

return SelectTable
