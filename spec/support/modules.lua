--- Modules for specs only. Workers load them too, if replicas are in workers. The helper loads
-- them, since a class can be created only once.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

local M = {}

-- A layer that raises in methods, on the devices of `blows`: {METHOD = {[2] = text}}.
local Fuse, parent = torch.class('dptspec.Fuse', 'nn.Module', M)

function Fuse:__init(blows)
   parent.__init(self)
   self.blows = blows or {}
end

local function burn(self, method, value)
   local how = (self.blows[method] or {})[value:getDevice()]
   if how == 'message' then
      torch.CudaTensor(2, 3):zero():addmm(value, value)
   elseif how then
      error(how)
   end
   return value
end

function Fuse:updateOutput(input)
   self.output = burn(self, 'updateOutput', input)
   return self.output
end

function Fuse:updateGradInput(_, gradOutput)
   self.gradInput = burn(self, 'updateGradInput', gradOutput)
   return self.gradInput
end

-- Draws on the device of its input by a tensor's method; the tensor drawn has no batch dimension.
local Drawing, drawingParent = torch.class('dptspec.Drawing', 'nn.Module', M)

function Drawing:__init(method)
   drawingParent.__init(self)
   self.method = method
end

function Drawing:updateOutput(input)
   local t = input.new()
   if self.method == 'randperm' then
      t:randperm(35):resize(5, 7)
   elseif self.method == 'multinomial' then
      t = input.new(5, 9):fill(1):multinomial(7, true):type(input:type())
   elseif self.method == 'random' then
      t:resize(5, 7):random(1, 100)
   else
      t:resize(5, 7)[self.method](t)
   end
   self.output = t
   return t
end

-- Draws as many times as its row says.
local DrawingMore = torch.class('dptspec.DrawingMore', 'nn.Module', M)

function DrawingMore:updateOutput(input)
   self.output = input.new(1, 9):zero()
   for i = 1, input[1][1] do self.output[1][i] = input.new(1):uniform()[1] end
   return self.output
end

-- A linear layer that is called `times` times, like a recurrent one.
local Repeated, repeatedParent = torch.class('dptspec.Repeated', 'nn.Container', M)

function Repeated:__init(size, times)
   repeatedParent.__init(self)
   self.modules[1], self.times = nn.Linear(size, size), times
end

function Repeated:updateOutput(input)
   self.inputs = {}
   local value = input
   for t = 1, self.times do
      self.inputs[t] = value
      value = self.modules[1]:updateOutput(value):clone()
   end
   self.output = value
   return value
end

function Repeated:updateGradInput(_, gradOutput)
   self.steps = {gradOutput}
   for t = self.times, 1, -1 do
      local before = self.steps[#self.steps]
      self.steps[#self.steps + 1] = self.modules[1]:updateGradInput(self.inputs[t], before):clone()
   end
   self.gradInput = self.steps[#self.steps]
   return self.gradInput
end

function Repeated:accGradParameters(_, _, scale)
   for t = self.times, 1, -1 do
      self.modules[1]:accGradParameters(self.inputs[t], self.steps[self.times - t + 1], scale)
   end
end

-- A layer whose own backward computes all gradients.
local Whole, wholeParent = torch.class('dptspec.Whole', 'nn.Module', M)

function Whole:__init(size)
   wholeParent.__init(self)
   self.weight = torch.randn(size)
   self.gradWeight = torch.zeros(size)
end

function Whole:updateOutput(input)
   self.output = torch.cmul(input, self.weight:view(1, -1):expandAs(input))
   return self.output
end

function Whole:backward(input, gradOutput, scale)
   self.gradInput = torch.cmul(gradOutput, self.weight:view(1, -1):expandAs(input))
   self.gradWeight:add(scale or 1, torch.cmul(gradOutput, input):sum(1):view(-1))
   return self.gradInput
end

-- Writes to the gradients of the inner layer again after calling it.
local Meddler, meddlerParent = torch.class('dptspec.Meddler', 'nn.Decorator', M)

function Meddler:accGradParameters(input, gradOutput, scale)
   meddlerParent.accGradParameters(self, input, gradOutput, scale)
   self.modules[1].gradWeight:add(0.125, self.modules[1].weight)
end

-- Adds to the gradients of the inner layer late, from its backward number `first` on.
local Late, lateParent = torch.class('dptspec.Late', 'nn.Decorator', M)

function Late:__init(layer, first)
   lateParent.__init(self, layer)
   self.first, self.passes = first, 0
end

function Late:accGradParameters(input, gradOutput, scale)
   lateParent.accGradParameters(self, input, gradOutput, scale)
   self.passes = self.passes + 1
   if self.passes < self.first then return end
   require('dpt.ffi').lib.stream_sleep(5)
   self.modules[1].gradWeight:add(1)
end

-- Writes to another layer's gradients: a layer without parameters, called after that layer.
local Stranger = torch.class('dptspec.Stranger', 'nn.Identity', M)

function Stranger:accGradParameters()
   self.passes = (self.passes or 0) + 1
   if self.passes >= self.first then self.victim.gradWeight:mul(0.5) end
end

-- Keeps its device busy before its gradients are computed.
local Slow, slowParent = torch.class('dptspec.Slow', 'nn.Linear', M)

function Slow:accGradParameters(input, gradOutput, scale)
   require('dpt.ffi').lib.stream_sleep(self.milliseconds)
   slowParent.accGradParameters(self, input, gradOutput, scale)
end

-- Counts the rows and calls that it has seen, in its own tensors.
local RowCounter, counterParent = torch.class('dptspec.RowCounter', 'nn.Module', M)

function RowCounter:__init()
   counterParent.__init(self)
   self.rows, self.calls = torch.Tensor{0}, torch.CudaLongTensor{0}
end

function RowCounter:updateOutput(input)
   if self.train then
      self.rows:add(input:size(1))
      self.calls:add(1)
   end
   self.output = input
   return input
end

function RowCounter:runningStatistics() return {self.rows, self.calls} end

-- A layer of {tensor, trouble}: if trouble is {phase, device, how}, it fails there.
local Trouble, troubleParent = torch.class('dptspec.Trouble', 'nn.Module', M)

function Trouble:__init() troubleParent.__init(self) end

local ways = {
   lua = function() error 'trouble in Lua' end,
   message = function(x) torch.CudaTensor(2, 3):zero():addmm(x, x) end,
   index = function(x) return x:index(1, torch.CudaLongTensor{x:size(1) + 5}) end, -- when it runs
   memory = function() return torch.CudaTensor(2 ^ 26) end, -- if there is a limit
}

local function go(phase, trouble, x)
   if trouble and trouble[1] == phase and trouble[2] == x:getDevice() then ways[trouble[3]](x) end
end

function Trouble:updateOutput(input)
   go('forward', input[2], input[1])
   self.output:resizeAs(input[1]):copy(input[1])
   return self.output
end

function Trouble:updateGradInput(input, gradOutput)
   go('backward', input[2], gradOutput)
   self.gradInput = {gradOutput}
   return self.gradInput
end

-- Raises if an element of its input or gradOutput is infinite.
local Poison, poisonParent = torch.class('dptspec.Poison', 'nn.Module', M)

function Poison:__init() poisonParent.__init(self) end

local function taste(value)
   local sample = torch.isTensor(value) and value or value[1]
   if sample:nElement() > 0 and sample:max() == math.huge then error 'poisoned' end
   return value
end

function Poison:updateOutput(input)
   self.output = taste(input)
   return self.output
end

function Poison:updateGradInput(_, gradOutput)
   self.gradInput = taste(gradOutput)
   return self.gradInput
end

return M
