-- nn.utils.shareGradInputs: the same gradients bit for bit, from fewer storages.
local nn, torch = require 'nn', require 'torch'
local cutorch = require 'cutorch'

local function conv(from, to, stride)
   return nn.SpatialConvolution(from, to, 3, 3, stride or 1, stride or 1, 1, 1)
end

local function block(inplace, add)
   local body = nn.Sequential():add(conv(4, 4)):add(nn.SpatialBatchNormalization(4))
      :add(nn.ReLU(inplace)):add(conv(4, 4)):add(nn.SpatialBatchNormalization(4))
   return nn.Sequential():add(nn.ConcatTable():add(body):add(nn.Identity()))
      :add(nn.CAddTable(add)):add(nn.ReLU(inplace))
end

local function shared()
   return nn.Sequential():add(nn.Tanh()):add(nn.Sigmoid())
end

local networks = {
   chain = function()
      return nn.Sequential():add(conv(3, 4)):add(nn.ReLU()):add(conv(4, 4)):add(nn.Tanh())
         :add(nn.SpatialMaxPooling(2, 2)):add(nn.View(-1):setNumInputDims(3))
         :add(nn.Linear(64, 5)):add(nn.LogSoftMax())
   end,
   residual = function()
      return nn.Sequential():add(conv(3, 4)):add(block(true, true)):add(block(false, false))
         :add(block(true, false)):add(conv(4, 2, 2))
   end,
   branches = function()
      local inner = nn.Concat(2):add(conv(4, 2)):add(nn.Sequential():add(nn.Tanh()):add(conv(4, 3)))
      return nn.Sequential():add(conv(3, 4)):add(nn.ConcatTable():add(inner)
         :add(nn.Sequential():add(inner:clone()):add(nn.ReLU(true)))):add(nn.ParallelTable()
         :add(nn.Sigmoid()):add(nn.Sequential():add(nn.Tanh()):add(nn.Dropout(0))))
         :add(nn.CMulTable())
   end,
   twice = function()
      local same = shared()
      return nn.Sequential():add(conv(3, 4)):add(nn.ConcatTable():add(same):add(nn.Sequential()
         :add(conv(4, 4)):add(same))):add(nn.JoinTable(2)):add(nn.Square())
   end,
}

-- Returns the output, gradInput and parameter gradients of three steps.
local function results(net, x)
   local list = {}
   local _, gradients = net:getParameters()
   for step = 1, 3 do
      net:zeroGradParameters()
      local y = net:forward(x)
      list[#list + 1] = y:clone():float()
      list[#list + 1] = net:backward(x, y:clone():mul(step)):clone():float()
      list[#list + 1] = gradients:clone():float()
   end
   return list
end

local function same(a, b)
   for i, t in ipairs(a) do assert.equal(0, (t - b[i]):abs():max()) end
end

-- Returns the number of distinct storages of gradInputs.
local function storages(net)
   local count, seen = 0, {}
   net:apply(function(module)
      local t = module.gradInput
      if torch.isTensor(t) and t:storage() and not seen[torch.pointer(t:storage())] then
         seen[torch.pointer(t:storage())] = true
         count = count + 1
      end
   end)
   return count
end

describe('nn.utils.shareGradInputs', function()
   for name, make in pairs(networks) do
      it('leaves every gradient as it was: ' .. name, function()
         torch.manualSeed(1)
         local net, x = make():float(), torch.FloatTensor(2, 3, 8, 8):uniform(-1, 1)
         local other = net:clone()
         local expected = results(net, x)
         assert.equal(other, nn.utils.shareGradInputs(other))
         same(expected, results(other, x))
         assert.is_true(storages(other) < storages(net))
         -- also in clones, and if a script moves the network elsewhere
         same(expected, results(other:clone(), x))
      end)
   end

   it('is correct on devices, and for networks moved there later #devices2', function()
      torch.manualSeed(1)
      local net, x = networks.residual():cuda(), torch.CudaTensor(2, 3, 8, 8):uniform(-1, 1)
      local other, moved = net:clone(), nn.utils.shareGradInputs(net:clone():float()):cuda()
      local expected = results(net, x)
      same(expected, results(nn.utils.shareGradInputs(other), x))
      same(expected, results(moved, x))
      local sharing = nn.utils.shareGradInputs(net:clone())
      local table_ = nn.DataParallelTable(1, true):add(sharing, {1, 2})
      table_:forward(x)
      local seen = table_:backward(x, table_.output)
      assert.equal(x:nElement(), seen:nElement())
      cutorch.synchronizeAll()
   end)

   it('needs two storages for a chain', function()
      local net = nn.Sequential()
      for _ = 1, 8 do net:add(nn.Linear(4, 4)):add(nn.Tanh()) end
      nn.utils.shareGradInputs(net)
      net:forward(torch.ones(2, 4))
      net:backward(torch.ones(2, 4), torch.ones(2, 4))
      assert.equal(2, storages(net))
   end)

   it('leaves classes of scripts alone, and first layers without a gradient', function()
      torch.class('nn.SpecKeepsGradient', 'nn.Linear')
      finally(function() nn.SpecKeepsGradient = nil end)
      local net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.SpecKeepsGradient(4, 4))
         :add(nn.Tanh())
      net:get(1).gradInput = nil
      local before = net:get(2).gradInput
      nn.utils.shareGradInputs(net)
      assert.is_nil(net:get(1).gradInput)
      assert.is_true(rawequal(before, net:get(2).gradInput))
   end)

   it('raises for values that are not modules', function()
      assert.error_matches(function() nn.utils.shareGradInputs(3) end,
         "nn.utils.shareGradInputs: argument 'net' is a number, wanted a module", 1, true)
   end)
end)
