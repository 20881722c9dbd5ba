--- nn.Dropout(p, v1, inplace, stochasticInference): zeroes elements with probability p in training.
-- The remaining ones are divided by 1 - p in training or, with v1, multiplied by 1 - p in
-- evaluation. stochasticInference drops elements in evaluation, too.
-- Invariant: noise is the mask that forward used. For host tensors it is drawn from the default
-- generator as in Torch7; for device tensors from the device's generator, one draw per forward.
-- Modules hold no seed and no counter, so copies never drop the same elements, however they were
-- made, and restoring the generators' states is enough to reproduce the masks.
-- @function nn.Dropout
-- @within nn normalization
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage local m = nn.Dropout(0.5)
--    m:evaluate()
--    return m:forward(torch.Tensor{1, 2}) --> [1 2]

local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local elementwise = require 'dpt.nn.elementwise'
local type, lib = dptffi.type, dptffi.lib

local Dropout, parent = torch.class('nn.Dropout', 'nn.Module')
Dropout.outputSplit = Dropout.sameSplit

local key = dptffi.ffi.new 'dpt_draw'

function Dropout:__init(p, v1, inplace, stochasticInference)
   parent.__init(self)
   self.p = p or 0.5
   self.train = true
   self.inplace = inplace
   self.stochastic_inference = stochasticInference or false
   self.v2 = not v1 -- Torch7's newer version, which scales in training
   if type(self.p) ~= 'number' or not (self.p >= 0 and self.p < 1) then
      dptffi.fail("%s: argument 'p' is %s, wanted 0 <= p < 1", torch.type(self), tostring(p))
   end
   self.noise = torch.Tensor()
end

--- Fills a mask, whose rows are the batch's, with `value` for kept elements and 0 for dropped ones.
-- @function nn.Dropout:draw
-- @as author
-- @param mask tensor: rows of the batch
-- @param value number: for kept elements
-- @return nothing
-- @usage local m, t = nn.Dropout(0.5), torch.Tensor(100)
--    m:draw(t, 2)
--    return t:max() --> 2
function Dropout:draw(mask, value)
   if not torch.type(mask):find('Cuda') then
      mask:bernoulli(1 - self.p)
      if value ~= 1 then mask:div(1 / value) end
      return
   end
   lib.draw_next(key, mask, core.generator(), mask:dim() > 0 and mask:size(1) or 0)
   lib.dropout_mask(mask, key, self.p, value)
end

--- Resizes the mask; SpatialDropout and similar classes drop whole planes.
-- @function nn.Dropout:resizeNoise
-- @as author
-- @param input tensor: of any size
-- @return nothing
-- @usage local m = nn.Dropout(0.5)
--    m:resizeNoise(torch.ones(2, 3))
--    return m.noise:size() --> 2x3
function Dropout:resizeNoise(input)
   self.noise:resizeAs(input)
end

--- Returns true if elements are dropped: in training, if the probability is not 0.
-- @function nn.Dropout:active
-- @as author
-- @return a boolean
-- @usage nn.Dropout(0.5):active(), nn.Dropout(0):active() --> true, false
function Dropout:active()
   return self.p > 0 and (self.train or self.stochastic_inference)
end

-- Sets result to x, the input or its gradient in any shape, times the noise, or scaled as in
-- evaluation.
local function drop(self, result, x, input)
   local active = self:active()
   if self.inplace then
      x = result:set(x)
   elseif not active or torch.type(x) ~= torch.type(result) then
      x = result:resizeAs(x):copy(x)
   end
   if active then
      local noise = self.noise
      if noise:nElement() ~= input:nElement() then noise = noise:expandAs(input) end
      elementwise.checkCount(self, input, x)
      result:cmul(x, noise)
   elseif not self.v2 and not self.train then
      result:mul(1 - self.p)
   end
   return result
end

function Dropout:updateOutput(input)
   if self:active() then
      self:resizeNoise(input)
      self:draw(self.noise, self.v2 and 1 / (1 - self.p) or 1)
   end
   return drop(self, self.output, input, input)
end

function Dropout:updateGradInput(input, gradOutput)
   return drop(self, self.gradInput, gradOutput, input)
end

--- Sets the probability, from the next forward on.
-- @function nn.Dropout:setp
-- @as method
-- @within nn normalization
-- @param p number: from 0 to 1
-- @return nothing
-- @usage local m = nn.Dropout(0.5)
--    m:setp(0.25)
--    return m.p --> 0.25
function Dropout:setp(p)
   self.p = p
end

function Dropout:clearState()
   self.noise:set()
   return parent.clearState(self)
end

function Dropout:__tostring__()
   return ('%s(%f)'):format(torch.type(self), self.p)
end

return Dropout
