--- nn.Convert(inputShape, outputShape): changes the order of dimensions, named by letters, 'bchw'
-- to 'bhwc' say; 'b' is the batch, and 'bf' or 'f' takes all others as one dimension.
-- What must stay true: every letter of outputShape except f stands in inputShape and the other way.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local Convert, parent = torch.class('nn.Convert', 'nn.Container')

-- A module that changes the order of letters from one string to another.
local function permutation(from, to)
   local pairsOf, letters = {}, {}
   for letter in from:gmatch('.') do letters[#letters + 1] = letter end
   for i = 1, #to do
      if letters[i] ~= to:sub(i, i) then
         local j = i + 1
         while letters[j] and letters[j] ~= to:sub(i, i) do j = j + 1 end
         if not letters[j] then return nil end
         letters[i], letters[j] = letters[j], letters[i]
         pairsOf[#pairsOf + 1] = {i, j}
      end
   end
   if #pairsOf == 0 then return nn.Identity() end
   return nn.Transpose(unpack(pairsOf))
end

function Convert:__init(inputShape, outputShape)
   parent.__init(self)
   self.inputShape, self.outputShape = inputShape, outputShape
   local converter
   if not outputShape:find('f') or inputShape:find('f') then
      converter = #inputShape == #outputShape and permutation(inputShape, outputShape)
   elseif outputShape == 'bf' and inputShape:find('b') then
      converter = permutation(inputShape, 'b' .. inputShape:gsub('b', ''))
      converter = nn.Sequential():add(converter):add(nn.Collapse(#inputShape - 1))
   elseif outputShape == 'f' and not inputShape:find('b') then
      converter = nn.Collapse(#inputShape)
   end
   if not converter then
      error(("nn.Convert: cannot make '%s' from '%s'"):format(outputShape, inputShape), 2)
   end
   self:add(converter)
end

function Convert:updateOutput(input)
   if input:dim() ~= #self.inputShape then
      error(("nn.Convert: input has %d dimensions, wanted %d for '%s'")
         :format(input:dim(), #self.inputShape, self.inputShape), 2)
   end
   self.output = self.modules[1]:updateOutput(input)
   return self.output
end

function Convert:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[1]:updateGradInput(input, gradOutput)
   return self.gradInput
end

return Convert
