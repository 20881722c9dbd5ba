--- nn.RReLU(l, u, ip): randomized leaky ReLU, y = x if x > 0, a x otherwise. In training a is drawn
-- uniformly from l..u (1/8..1/3) for each element; in evaluation it is (l + u) / 2. ip computes in
-- place.
-- Invariant: noise holds the slopes that forward used, 1 where x > 0. Host tensors draw one number
-- for each element that is not positive, in order, as in Torch7. In nn.DistributedDataParallel they
-- draw one for each element, because no rank knows the signs of the other ranks' elements.
-- @function nn.RReLU
-- @within nn transfer
-- @as layer
-- @param l lower bound of the slope (1/8)
-- @param u upper bound of the slope (1/3)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.RReLU(0.25, 0.25):forward(torch.Tensor{-4, 2}) --> [-1 2]

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type
local random = require 'dpt.parallel.dispatch.random'
local hostRandom = require 'dpt.parallel.ranks.host_random'

local RReLU, parent = torch.class('nn.RReLU', 'nn.Module')

function RReLU:__init(l, u, ip)
   parent.__init(self)
   self.lower = l or 1 / 8
   self.upper = u or 1 / 3
   if type(self.lower) ~= 'number' or type(self.upper) ~= 'number' or self.lower > self.upper then
      fail('nn.RReLU: wanted lower <= upper, got %s and %s',
         tostring(self.lower), tostring(self.upper))
   end
   self.noise = torch.Tensor()
   self.train = true
   self.inplace = ip or false
end

--- Draws the slopes of a forward.
-- @function nn.RReLU:draw
-- @as author
-- @param input tensor: of any size
-- @return nothing
-- @usage local m = nn.RReLU(0.5, 0.5)
--    m:draw(torch.Tensor{-1, 1})
--    return m.noise:nElement() --> 2
function RReLU:draw(input)
   self.noise:resizeAs(input)
   if torch.type(input):find('Cuda') or random.isShared() or hostRandom.mustDrawBySize() then
      self.noise:uniform(self.lower, self.upper):maskedFill(torch.gt(input, 0), 1)
      return
   end
   local mask = torch.le(input, 0)
   local count = mask:sum()
   self.noise:fill(1)
   if count > 0 then
      self.noise:maskedCopy(mask, input.new(count):uniform(self.lower, self.upper))
   end
end

--- Multiplies t in place by the slopes, where the input (in place: the output) is not positive.
-- @function nn.RReLU:slope
-- @as author
-- @param t tensor: is multiplied
-- @param input tensor: of the last forward
-- @return the tensor
-- @usage local m, t = nn.RReLU(0.5, 0.5), torch.Tensor{1, 1}
--    m:evaluate()
--    m:slope(t, torch.Tensor{-1, 1})
--    return t --> [0.5 1]
function RReLU:slope(t, input)
   if self.train then
      t:cmul(self.noise)
   else
      local slope = (self.lower + self.upper) / 2
      local mean = self.noise:resizeAs(input):fill(1):maskedFill(torch.le(input, 0), slope)
      t:cmul(mean)
   end
end

function RReLU:updateOutput(input)
   if self.train then self:draw(input) end
   if self.inplace then
      self:slope(input, input)
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input)
      self:slope(self.output, input)
   end
   return self.output
end

function RReLU:updateGradInput(input, gradOutput)
   if self.inplace then
      self:slope(gradOutput, input)
      self.gradInput:set(gradOutput)
   else
      self.gradInput:resizeAs(gradOutput):copy(gradOutput)
      self:slope(self.gradInput, input)
   end
   return self.gradInput
end

function RReLU:clearState()
   self.noise:set()
   return parent.clearState(self)
end

function RReLU:__tostring__()
   return ('%s (l:%f, u:%f)'):format(torch.type(self), self.lower, self.upper)
end

return RReLU
