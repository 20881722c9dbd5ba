--- Classes as scripts define them: modules, a container, a criterion.
-- Invariant: a second require, by a spec that busted reloads, defines nothing again.
local torch, nn = require('dpt').torch, require('dpt').nn
if nn.SpecScale then return end

-- A typical class: fields in __init, three methods, buffers created by new() and resized.
local Scale, scaleParent = torch.class('nn.SpecScale', 'nn.Module')

function Scale:__init(n)
   scaleParent.__init(self)
   self.weight = torch.Tensor(n)
   self.gradWeight = torch.Tensor(n):zero()
   self:reset()
end

function Scale:reset(stdv)
   stdv = stdv or 0.1
   if nn.oldSeed then
      self.weight:apply(function() return torch.uniform(1 - stdv, 1 + stdv) end)
   else
      self.weight:uniform(1 - stdv, 1 + stdv)
   end
   return self
end

function Scale:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   self.repeated = self.repeated or input.new()
   self.repeated:resizeAs(input)
   self.repeated:copy(self.weight:view(1, -1):expandAs(input))
   self.output:cmul(self.repeated)
   return self.output
end

function Scale:updateGradInput(input, gradOutput)
   if self.gradInput then
      self.gradInput:resizeAs(input):zero()
      self.gradInput:addcmul(1, self.repeated, gradOutput)
      return self.gradInput
   end
end

function Scale:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   self.gradWeight:add(scale, torch.cmul(input, gradOutput):sum(1):view(-1))
end

function Scale:type(type, cache)
   self.repeated = nil
   return scaleParent.type(self, type, cache)
end

function Scale:clearState()
   nn.utils.clear(self, 'repeated')
   return scaleParent.clearState(self)
end

function Scale:__tostring__() return torch.type(self) .. ('(%d)'):format(self.weight:size(1)) end

-- A layer that computes elements in Lua, with apply and map; backward computes both gradients.
local Swish, swishParent = torch.class('nn.SpecSwish', 'nn.Module')

function Swish:__init(beta)
   swishParent.__init(self)
   self.beta = beta or 1
   self.sigmoid = nn.Sigmoid()
end

function Swish:updateOutput(input)
   local s = self.sigmoid:forward(torch.mul(input, self.beta))
   self.output:cmul(input, s)
   return self.output
end

function Swish:updateGradInput(_, gradOutput)
   local s, y = self.sigmoid.output, self.output
   self.gradInput = (y * self.beta + s - torch.cmul(s, y) * self.beta):cmul(gradOutput)
   return self.gradInput
end

-- A custom container, in place of nn.Decorator: x + f(x).
local Residual, residualParent = torch.class('nn.SpecResidual', 'nn.Container')

function Residual:__init(inner)
   residualParent.__init(self)
   self:add(inner)
end

function Residual:updateOutput(input)
   self.output:resizeAs(input):copy(input):add(self.modules[1]:forward(input))
   return self.output
end

function Residual:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(gradOutput)
   self.gradInput:add(self.modules[1]:updateGradInput(input, gradOutput))
   return self.gradInput
end

function Residual:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, gradOutput, scale)
end

local Loss, lossParent = torch.class('nn.SpecCosh', 'nn.Criterion')

function Loss:__init(sizeAverage)
   lossParent.__init(self)
   self.sizeAverage = sizeAverage ~= false
   self.buffer = torch.Tensor()
end

function Loss:updateOutput(input, target)
   self.buffer:resizeAs(input):copy(input):add(-1, target)
   local e = torch.exp(self.buffer)
   self.output = (e + torch.exp(-self.buffer)):div(2):log():sum()
   if self.sizeAverage then self.output = self.output / input:nElement() end
   return self.output
end

function Loss:updateGradInput(input)
   self.gradInput:resizeAs(input):tanh(self.buffer)
   if self.sizeAverage then self.gradInput:div(input:nElement()) end
   return self.gradInput
end

-- Returns mean + exp(logVariance / 2) * noise; the script sets the noise.
local Sampler, samplerParent = torch.class('nn.SpecSampler', 'nn.Module')

function Sampler:__init()
   samplerParent.__init(self)
   self.gradInput = {}
end

function Sampler:updateOutput(input)
   self.output:resizeAs(input[2]):copy(input[2])
   self.output:mul(0.5):exp():cmul(self.noise):add(input[1])
   return self.output
end

function Sampler:updateGradInput(input, gradOutput)
   self.gradInput[1] = self.gradInput[1] or input[1].new()
   self.gradInput[1]:resizeAs(gradOutput):copy(gradOutput)
   self.gradInput[2] = self.gradInput[2] or input[2].new()
   self.gradInput[2]:resizeAs(gradOutput):copy(input[2])
   self.gradInput[2]:mul(0.5):exp():mul(0.5):cmul(self.noise):cmul(gradOutput)
   return self.gradInput
end

-- An LSTM over N x T x D, with every step on slices of a few large tensors; one method does all of
-- backward, as is typical of such layers.
local LSTM, lstmParent = torch.class('nn.SpecLSTM', 'nn.Module')

function LSTM:__init(inputs, hidden)
   lstmParent.__init(self)
   self.inputs, self.hidden = inputs, hidden
   self.weight = torch.Tensor(inputs + hidden, 4 * hidden)
   self.gradWeight = torch.Tensor(inputs + hidden, 4 * hidden):zero()
   self.bias, self.gradBias = torch.Tensor(4 * hidden), torch.Tensor(4 * hidden):zero()
   self.cells, self.gates, self.joined = torch.Tensor(), torch.Tensor(), torch.Tensor()
   self:reset()
end

function LSTM:reset()
   self.weight:uniform(-0.3, 0.3)
   self.bias:zero():narrow(1, self.hidden + 1, self.hidden):fill(1)
end

-- Returns the input, forget and output gates and the candidate of one step.
function LSTM:parts(t, from)
   local list = {}
   for k = 1, 4 do
      list[k] = (from or self.gates)[{{}, t, {(k - 1) * self.hidden + 1, k * self.hidden}}]
   end
   return unpack(list)
end

function LSTM:updateOutput(x)
   local n, steps, h = x:size(1), x:size(2), self.hidden
   self.output:resize(n, steps, h)
   self.cells:resize(n, steps, h)
   self.gates:resize(n, steps, 4 * h)
   self.joined:resize(steps, n, self.inputs + h):zero()
   for t = 1, steps do
      local joined = self.joined[t]
      joined[{{}, {1, self.inputs}}] = x[{{}, t}]
      if t > 1 then joined[{{}, {self.inputs + 1, -1}}] = self.output[{{}, t - 1}] end
      self.gates[{{}, t}] = joined * self.weight + self.bias:view(1, -1):expand(n, 4 * h)
      self.gates[{{}, t, {1, 3 * h}}]:sigmoid()
      local i, f, o, g = self:parts(t)
      g:tanh()
      local cell = self.cells[{{}, t}]:cmul(i, g)
      if t > 1 then cell:addcmul(1, f, self.cells[{{}, t - 1}]) end
      self.output[{{}, t}]:tanh(cell):cmul(o)
   end
   return self.output
end

local function sigmoidSlope(s) return torch.cmul(s, 1 - s) end

function LSTM:backward(x, gradOutput, scale)
   scale = scale or 1
   local n, steps = x:size(1), x:size(2)
   self.gradInput:resizeAs(x)
   local slopes = self.gates:clone():zero()
   local dOut, dCell = x.new(n, self.hidden):zero(), x.new(n, self.hidden):zero()
   for t = steps, 1, -1 do
      local i, f, o, g = self:parts(t)
      local di, df, dO, dg = self:parts(t, slopes)
      local squashed = torch.tanh(self.cells[{{}, t}])
      dOut = dOut + gradOutput[{{}, t}]
      dCell = dCell + torch.cmul(dOut, o):cmul(1 - torch.pow(squashed, 2))
      di:copy(sigmoidSlope(i)):cmul(g):cmul(dCell)
      dO:copy(sigmoidSlope(o)):cmul(squashed):cmul(dOut)
      dg:copy(1 - torch.pow(g, 2)):cmul(i):cmul(dCell)
      if t > 1 then df:copy(sigmoidSlope(f)):cmul(self.cells[{{}, t - 1}]):cmul(dCell) end
      local all = slopes[{{}, t}]
      local back = all * self.weight:t()
      self.gradInput[{{}, t}] = back[{{}, {1, self.inputs}}]
      dOut = back[{{}, {self.inputs + 1, -1}}]
      dCell:cmul(f)
      self.gradWeight:addmm(scale, self.joined[t]:t(), all)
      self.gradBias:add(scale, all:sum(1))
   end
   return self.gradInput
end

function LSTM:updateGradInput(x, gradOutput) return self:backward(x, gradOutput, 0) end

LSTM.accGradParameters = LSTM.backward
