--- Random draws of modules on a device: no two modules draw the same numbers, and the same state of
-- the device's generator gives the same draws, however the modules were created.
local dpt = require 'dpt'
local torch, nn, cutorch, cudnn = dpt.torch, dpt.nn, dpt.cutorch, dpt.cudnn
local random = require 'dpt.parallel.dispatch.random'
local same = require 'spec.support.parallel'

local SIZE = 40000

-- Returns the fraction of ones that pass through a network.
local function kept(net, rows)
   local input = torch.CudaTensor(rows or 100, SIZE / (rows or 100)):fill(1)
   return net:forward(input):ne(0):sum() / SIZE
end

--- Three Dropout(0.5) in sequence, by how they were made; they keep one eighth.
local chains = {
   ['clones of a block'] = function()
      local block = nn.Sequential():add(nn.Dropout(0.5)):cuda()
      return nn.Sequential():add(block):add(block:clone()):add(block:clone())
   end,
   ['clones of one that has drawn'] = function()
      local first = nn.Dropout(0.5):cuda()
      kept(first)
      return nn.Sequential():add(first):add(first:clone()):add(first:clone():clone())
   end,
   ['clones that share tensors'] = function()
      local first = nn.Dropout(0.5):cuda()
      return nn.Sequential():add(first):add(first:clone('weight')):add(first:sharedClone())
   end,
   ['one module in three places'] = function()
      local one = nn.Dropout(0.5):cuda()
      return nn.Sequential():add(one):add(one):add(one)
   end,
   ['read from one file'] = function()
      local text = torch.serialize(nn.Dropout(0.5):cuda())
      local net = nn.Sequential()
      for _ = 1, 3 do net:add(torch.deserialize(text)) end
      return net
   end,
   ['read from a file of Torch7'] = function()
      local net = nn.Sequential()
      for _ = 1, 3 do
         local model = torch.load('spec/golden/t7/models/convnet.t7')
         net:add(model:findModules('nn.Dropout')[1])
      end
      net:training()
      return net:cuda()
   end,
   ['whole networks after each other'] = function()
      local function network() return nn.Sequential():add(nn.Dropout(0.5)):cuda() end
      return nn.Sequential():add(network()):add(network()):add(network())
   end,
   ['after surgery'] = function()
      local net = nn.Sequential():add(nn.Dropout(0.5)):add(nn.Tanh()):cuda()
      kept(net)
      net:remove(2)
      net:insert(net:get(1):clone(), 1)
      return net:add(torch.deserialize(torch.serialize(net:get(1))))
   end,
}

describe('H22: What modules draw on a device', function()
   same.seeded(3)

   for name, make in pairs(chains) do
      it('differs between Dropouts that are ' .. name, function()
         assert.near(0.125, kept(make()), 0.01)
      end)

      it('differs between Dropouts on several devices that are ' .. name, function()
         local most = math.min(4, cutorch.getDeviceCount())
         local many = nn.DataParallelTable(1):add(make(), same.range(most))
         assert.near(0.125, kept(many, 100), 0.01)
         assert.near(0.125, kept(many:clone(), 100), 0.01)
      end)
   end

   it('differs between the steps of nn.Sequencer', function()
      local net = nn.Sequencer(nn.Dropout(0.5)):cuda()
      local x = torch.CudaTensor(100, 400):fill(1)
      for _ = 1, 2 do -- also with step copies that already exist
         local steps = net:forward{x, x, x}
         local all = torch.cmul(steps[1], steps[2]):cmul(steps[3])
         assert.near(0.125, all:ne(0):sum() / SIZE, 0.01)
      end
   end)

   it('differs between clones of a recurrent module', function()
      local one = cudnn.LSTM(8, 8, 2, false, 0.5)
      local other, x = one:clone(), torch.randn(5, 7, 8):cuda()
      assert.is_false(one:forward(x):equal(other:forward(x)))
      local first = one:forward(x):clone()
      assert.is_false(first:equal(one:forward(x)))
   end)

   it('is drawn again with the state of the generator, and with its seed', function()
      local net = nn.Sequential():add(nn.Dropout(0.3)):add(nn.WhiteNoise(0, 1)):add(nn.RReLU())
         :add(nn.View(5, 8, 8)):add(cudnn.GRU(8, 8, 2, false, 0.5)):cuda()
      local x = torch.randn(5, 64):cuda()
      local function steps()
         local list = {}
         for i = 1, 3 do list[i] = net:forward(x):clone() end
         return list
      end
      local state = cutorch.getRNGState()
      local first = steps()
      cutorch.setRNGState(state)
      local text = torch.serialize(net)
      net = torch.deserialize(text) -- as another process would start
      same.bits(first, steps())
      for _, seed in ipairs{torch.manualSeed, cutorch.manualSeed, cutorch.manualSeedAll} do
         seed(9)
         local list = steps()
         assert.is_false(list[1]:equal(first[1]))
         seed(9)
         same.bits(list, steps())
      end
   end)

   it('is the same for rows of a batch as for the whole batch', function()
      local m = nn.Dropout(0.5):cuda()
      for _, columns in ipairs{300, 7} do
         local x = torch.CudaTensor(8, columns):fill(1)
         local before = cutorch.getRNGState()
         local whole = m:forward(x):clone()
         local after = cutorch.getRNGState()
         cutorch.setRNGState(before)
         local pass = random.passes(1, {5, 8}, 1)[1]
         local part = random.within(pass, m.forward, m, x:narrow(1, 6, 3)):clone()
         assert.is_true(part:equal(whole:narrow(1, 6, 3)))
         assert.is_true(after:equal(cutorch.getRNGState()))
         assert.is_false(whole:equal(m:forward(x))) -- the next draw differs
      end
   end)

   it('does not count a draw of zero elements', function()
      local before = cutorch.getRNGState()
      for _, m in ipairs{nn.Dropout(0.5), nn.WhiteNoise(), nn.RReLU()} do
         m:cuda():forward(torch.CudaTensor())
      end
      assert.is_true(before:equal(cutorch.getRNGState()))
   end)
end)
