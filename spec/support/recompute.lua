--- Compares a network with nn.Recompute with the same one without, bit by bit.
local torch, nn, cutorch = require 'torch', require 'nn', require 'cutorch'

local recompute = {}

--- Calls f(tensor) for each tensor of a value, and returns the results in the same structure.
function recompute.map(value, f)
   if torch.isTensor(value) then return f(value) end
   local list = {}
   for k, inner in pairs(value or {}) do list[k] = recompute.map(inner, f) end
   return list
end
local map = recompute.map

local function clone(value) return map(value, function(t) return t:clone() end) end

local function compare(a, b, what)
   if not torch.isTensor(a) then
      for k, inner in pairs(a) do compare(inner, b[k], what) end
      return
   end
   assert(a:isSameSizeAs(b), what .. ' has another size')
   if a:nElement() == 0 then return end
   assert(a:ne(b):sum() == 0, what .. ' differs')
end

--- Returns a network and a copy in which the modules at the indices are in nn.Recompute.
function recompute.pair(net, typename, ...)
   local other = net:clone()
   for _, i in ipairs{...} do other.modules[i] = nn.Recompute(other.modules[i]) end
   return net:type(typename), other:type(typename)
end

--- Returns an nn.Sequential that changes all kinds of state: statistics, masks, slopes, its input.
function recompute.block(planes, normalization)
   return nn.Sequential():add(nn.ReLU(true)):add(nn.Linear(planes, planes))
      :add(nn[normalization or 'BatchNormalization'](planes)):add(nn.RReLU(0.1, 0.3, true))
      :add(nn.Dropout(0.3)):add(nn.Linear(planes, planes)):add(nn.WhiteNoise())
end

--- Returns a network of such blocks; those at 2, 3 and 4 are for nn.Recompute.
function recompute.network(normalization)
   local net = nn.Sequential():add(nn.Linear(6, 6))
   for _ = 1, 3 do net:add(recompute.block(6, normalization)) end
   return net:add(nn.Tanh()):add(nn.Linear(6, 3))
end

-- Runs a step. Returns all that nn.Recompute must leave as it is.
local function training(net, input, seed, separate)
   torch.manualSeed(seed)
   net:zeroGradParameters()
   local x = clone(input)
   local output = clone(net:forward(x))
   local g = map(output, function(t) return t:clone():fill(0.5) end)
   torch.rand(3) -- a second forward must not draw these numbers again
   local gradInput
   if separate then
      gradInput = net:updateGradInput(x, g)
      net:accGradParameters(x, g)
   else
      gradInput = net:backward(x, g)
   end
   gradInput = clone(gradInput)
   local _, gradients = net:parameters()
   gradients = clone(gradients)
   net:updateParameters(0.1)
   return {output = output, gradInput = gradInput, gradients = gradients,
      ['the generator'] = torch.Tensor{torch.random()},
      ['the device generator'] = cutorch.getRNGState()}
end

--- Trains both with the same inputs. Raises if outputs, gradients, generators or statistics differ.
-- @param make function(step) that returns an input
function recompute.train(plain, other, steps, make)
   for step = 1, steps do
      local input = make(step)
      local a = training(plain, input, step, step == 2)
      local b = training(other, input, step, step == 2)
      for name, value in pairs(a) do
         compare(value, b[name], ('%s of step %d'):format(name, step))
      end
   end
   local lists = {{}, {}}
   for k, net in ipairs{plain, other} do
      net:apply(function(m)
         for _, t in ipairs(m:runningStatistics()) do table.insert(lists[k], t:clone()) end
      end)
   end
   assert(#lists[1] == #lists[2])
   compare(lists[1], lists[2], 'statistics')
end

return recompute
