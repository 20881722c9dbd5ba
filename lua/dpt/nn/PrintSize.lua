--- nn.PrintSize(prefix): prints the sizes of input and gradOutput; see also nn.NaN.
-- Invariant: output and gradInput are input and gradOutput themselves.
-- @function nn.PrintSize
-- @within nn simple
-- @as layer
-- @param prefix string printed before the sizes
-- @return a module; forward: anything -> the same
-- @usage torch.type(nn.PrintSize('here')) --> nn.PrintSize

local torch = require 'dpt.tensor'
local type = require('dpt.ffi').type

local PrintSize, parent = torch.class('nn.PrintSize', 'nn.Identity')

function PrintSize:__init(prefix)
   parent.__init(self)
   self.prefix = prefix or 'PrintSize'
end

local function sizes(value)
   if torch.isTensor(value) then return value:size() end
   if type(value) ~= 'table' then return tostring(value) end
   local list = {}
   for i, entry in ipairs(value) do list[i] = tostring(sizes(entry)) end
   return '{' .. table.concat(list, ', ') .. '}'
end

function PrintSize:updateOutput(input)
   print(self.prefix .. ':input\n', sizes(input))
   return parent.updateOutput(self, input)
end

function PrintSize:updateGradInput(input, gradOutput)
   print(self.prefix .. ':gradOutput\n', sizes(gradOutput))
   return parent.updateGradInput(self, input, gradOutput)
end

return PrintSize
