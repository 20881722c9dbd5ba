--- nn.ZipTable(): zips tables: {{a1, a2}, {b1, b2}, {c1, c2}} becomes {{a1, b1, c1}, {a2, b2, c2}}.
-- Invariant: the output has as many entries as the shortest list. Tensors are not copied.
-- @function nn.ZipTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table of m tables of n -> n tables of m
-- @usage #nn.ZipTable():forward{{1, 2}, {3, 4}, {5, 6}} --> 2

local torch = require 'dpt.tensor'

local ZipTable, parent = torch.class('nn.ZipTable', 'nn.Module')

function ZipTable:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
end

local function zip(lists)
   local length
   for _, list in ipairs(lists) do length = math.min(length or #list, #list) end
   local zipped = {}
   for i = 1, length or 0 do
      zipped[i] = {}
      for j, list in ipairs(lists) do zipped[i][j] = list[i] end
   end
   return zipped
end

function ZipTable:updateOutput(input)
   self.output = zip(input)
   return self.output
end

function ZipTable:updateGradInput(_, gradOutput)
   self.gradInput = zip(gradOutput)
   return self.gradInput
end

return ZipTable
