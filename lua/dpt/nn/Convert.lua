--- nn.Convert([inputShape, outputShape]): permutes dimensions that are named by letters, for
-- example 'bchw' to 'bhwc'. 'b' is the batch. Output shape 'bf' flattens all other dimensions into
-- one; 'b' selects the first column of 'bt' or 'bf', and 'bt' makes a column of 'b'. Without shapes
-- only the type is converted.
-- Invariant: the output has the module's type, and gradInput has the input's type. An input without
-- the batch dimension is one row, and its output has no batch dimension.
-- @function nn.Convert
-- @within nn simple
-- @as layer
-- @param inputShape the input's dimensions, one letter each
-- @param outputShape the output's dimensions
-- @return a module; forward: a tensor whose dimensions inputShape names -> its elements in
--    outputShape's order
-- @usage nn.Convert('bchw', 'bhwc'):forward(torch.ones(2, 3, 4, 5)):size() --> 2x4x5x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local Convert, parent = torch.class('nn.Convert', 'nn.Container')

-- Returns a module that permutes the letters of one string into another, or nil.
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

-- Returns the module for two shapes that both have a 'b', or nil if there is none.
local function converter(from, to)
   if #from == #to then
      local same = permutation(from, to)
      if same then return same end
   end
   if to == 'bf' then
      if #from == 1 then return nn.Reshape(1) end
      local order = permutation(from, 'b' .. from:gsub('b', ''))
      return #from == 2 and order or nn.Sequential():add(order):add(nn.Collapse(#from - 1))
   elseif to == 'b' and #from == 2 and from:find('[tf]') then
      return nn.Select((from:find('[tf]')), 1)
   elseif to == 'bt' and from == 'b' then
      return nn.Reshape(1)
   end
end

function Convert:__init(inputShape, outputShape)
   parent.__init(self)
   inputShape = inputShape or outputShape == nil and 'b*' or nil
   outputShape = outputShape or inputShape
   if type(inputShape) ~= 'string' or type(outputShape) ~= 'string' then
      fail("nn.Convert: wanted two shapes, such as 'bhwc' and 'bchw', got %s and %s",
         torch.type(inputShape), torch.type(outputShape))
   end
   self.inputShape = inputShape:find('b') and inputShape or 'b' .. inputShape
   self.outputShape = outputShape:find('b') and outputShape or 'b' .. outputShape
   self.converter = converter(self.inputShape, self.outputShape)
   if not self.converter then
      fail("nn.Convert: cannot convert shape '%s' to '%s'", inputShape, outputShape)
   end
   self:add(self.converter)
end

-- Returns the tensor in the module's type: itself or a copy.
local function converted(self, t)
   if torch.type(t) == self._type then return t end
   return torch.getmetatable(self._type).new():resize(t:size()):copy(t)
end

-- Returns t as a batch of one row along a dimension.
local function asBatch(t, dim)
   return nn.utils.addSingletonDimension(t, dim)
end

function Convert:updateOutput(input)
   local rank = self.inputShape ~= 'b*' and #self.inputShape or input:dim()
   if input:dim() ~= rank and input:dim() ~= rank - 1 then
      fail("nn.Convert: input has %d dimensions, wanted %d for '%s'",
         input:dim(), rank, self.inputShape)
   end
   self.batchMode = input:dim() == rank
   self._input = converted(self, input)
   if not self.batchMode then self._input = asBatch(self._input, (self.inputShape:find('b'))) end
   self.output = self.converter:updateOutput(self._input)
   if not self.batchMode then self.output = self.output:select(self.outputShape:find('b'), 1) end
   return self.output
end

function Convert:updateGradInput(input, gradOutput)
   gradOutput = converted(self, gradOutput)
   if not self.batchMode then gradOutput = asBatch(gradOutput, (self.outputShape:find('b'))) end
   local gradInput = self.converter:updateGradInput(self._input, gradOutput):viewAs(input)
   self.gradInput = torch.type(gradInput) == torch.type(input) and gradInput
      or input.new():resize(input:size()):copy(gradInput)
   return self.gradInput
end

function Convert:clearState()
   self._input = nil
   return parent.clearState(self)
end

function Convert:type(typename, tensorCache)
   if typename then self._input = nil end
   return parent.type(self, typename, tensorCache)
end

return Convert
