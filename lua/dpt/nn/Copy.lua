--- nn.Copy(intype, outtype, forceCopy, dontCast): converts its input from one tensor type to
-- another.
-- Invariant: if both types are equal, output is the input itself, unless forceCopy is set.
-- @function nn.Copy
-- @within nn simple
-- @as layer
-- @param intype type of the input (the default type)
-- @param outtype type of the output (the default type)
-- @param forceCopy true: copies even if both types are equal
-- @param dontCast true: :type() does not change the two types
-- @return a module; forward: a tensor of intype -> its copy of outtype
-- @usage nn.Copy('torch.DoubleTensor', 'torch.FloatTensor')
--       :forward(torch.DoubleTensor{2}) :type() --> torch.FloatTensor

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local Copy, parent = torch.class('nn.Copy', 'nn.Module')

function Copy:__init(intype, outtype, forceCopy, dontCast)
   intype = intype or torch.getdefaulttensortype()
   outtype = outtype or torch.getdefaulttensortype()
   for _, name in ipairs{intype, outtype} do
      if not torch.getmetatable(name) then fail("nn.Copy: there is no type '%s'", name) end
   end
   parent.__init(self)
   self.dontCast = dontCast
   self.intype, self.outtype = intype, outtype
   self.gradInput = torch.getmetatable(intype).new()
   self.output = torch.getmetatable(outtype).new()
   self.forceCopy = forceCopy or intype ~= outtype
   self._type = outtype
end

function Copy:updateOutput(input)
   if not self.forceCopy then
      self.output = input
   else
      self.output:resize(input:size()):copy(input)
   end
   return self.output
end

function Copy:updateGradInput(input, gradOutput)
   if not self.forceCopy then
      self.gradInput = gradOutput
   else
      self.gradInput:resize(input:size()):copy(gradOutput)
   end
   return self.gradInput
end

-- Changes the module's type; with dontCast does nothing.
function Copy:type(typename, tensorCache)
   if typename and self.dontCast then return self end
   return parent.type(self, typename, tensorCache)
end

return Copy
