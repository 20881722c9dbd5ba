--- nn.NarrowTable(offset, length): selects entries offset .. offset + length - 1 of the input
-- table.
-- Invariant: output holds the entries themselves; gradInput is zero for all others.
-- @function nn.NarrowTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table -> a table of length entries
-- @usage #nn.NarrowTable(2, 2):forward{1, 2, 3, 4} --> 2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local NarrowTable, parent = torch.class('nn.NarrowTable', 'nn.Module')

function NarrowTable:__init(offset, length)
   parent.__init(self)
   self.offset = offset
   self.length = length or 1
   self.output = {}
   self.gradInput = {}
end

function NarrowTable:updateOutput(input)
   self.output = {}
   for i = 1, self.length do
      local entry = input[self.offset + i - 1]
      if entry == nil then
         fail('nn.NarrowTable: the input table has %d entries, wanted entries %d to %d',
            #input, self.offset, self.offset + self.length - 1)
      end
      self.output[i] = entry
   end
   return self.output
end

function NarrowTable:updateGradInput(input, gradOutput)
   for i = #input + 1, #self.gradInput do self.gradInput[i] = nil end
   for i, entry in ipairs(input) do
      local inside = gradOutput[i - self.offset + 1]
      if i >= self.offset and i < self.offset + self.length then
         self.gradInput[i] = nn.utils.recursiveCopy(self.gradInput[i], inside)
      else
         self.gradInput[i] = nn.utils.recursiveResizeAs(self.gradInput[i], entry)
         nn.utils.recursiveFill(self.gradInput[i], 0)
      end
   end
   return self.gradInput
end

function NarrowTable:type(typename, tensorCache)
   if typename then
      self.output = {}
      self.gradInput = {}
   end
   return parent.type(self, typename, tensorCache)
end

return NarrowTable
