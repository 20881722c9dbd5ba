--- Conversion of recurrent weights between backends with different layouts: here, devices get a
-- layout with another order and gaps, as cuDNN's may be. Nothing is computed with it.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local network = require 'dpt.rnn.network'
local same = require 'spec.support.parallel'

local GAP = 3

describe('dpt.rnn.weights, between layouts,', function()
   local layout, size = network.layout, network.size
   local other -- layout on devices: true with gaps, false without, nil for the real one

   setup(function()
      network.layout = function(module, weight)
         local places = layout(module, weight)
         if other == nil or not weight:type():find 'Cuda' then return places end
         local first = 1
         for i = #places, 1, -1 do -- parts in reverse order
            places[i].first = first
            first = first + network.count(places[i]) + (other and GAP or 0)
         end
         return places
      end
      network.size = function(module, weight)
         local total = size(module, weight)
         if not other or not weight:type():find 'Cuda' then return total end
         return total + GAP * #layout(module, weight)
      end
   end)
   teardown(function() network.layout, network.size = layout, size end)
   after_each(function() other = nil end)

   -- Returns all parts in order, as host doubles.
   local function parts(rnn)
      local list = {}
      for _, method in ipairs{'weights', 'biases', 'gradWeights', 'gradBiases'} do
         for _, part in ipairs(rnn[method](rnn)) do
            for _, t in ipairs(part) do list[#list + 1] = t:double() end
         end
      end
      return list
   end

   local function make()
      local rnn = nn.RNN('CUDNN_LSTM', 3, 4, 2):float():bothDirections()
      rnn.gradWeight:uniform()
      return rnn
   end

   for _, gaps in ipairs{false, true} do
      local name = gaps and ' with gaps' or ' of another order'
      it('keeps every part through a change of type, there and back,' .. name, function()
         other = gaps
         local rnn = make()
         local expected, before = parts(rnn), rnn.weight:clone()
         rnn:cuda()
         assert.equal(before:nElement() + (gaps and GAP * #expected / 2 or 0),
            rnn.weight:nElement())
         assert.is_false(rnn.weight:float():narrow(1, 1, 9):equal(before:narrow(1, 1, 9)))
         same.bits(expected, parts(rnn))
         rnn:float()
         same.bits(before, rnn.weight)
         same.bits(expected, parts(rnn))
      end)

      it('keeps weights shared and converts their layout once,' .. name, function()
         other = gaps
         local one, two = make(), make()
         two:share(one, 'weight', 'gradWeight')
         local net = nn.Sequential():add(one):add(nn.Linear(8, 3):float()):add(two)
         net:getParameters()
         local expected, linear = parts(one), net:get(2).weight:double()
         net:cuda()
         same.bits(expected, parts(one))
         same.bits(expected, parts(two))
         same.bits(linear, net:get(2).weight)
         one.weight:fill(2)
         assert.equal(2, two.weight:min())
         local flat = net:getParameters()
         assert.equal(one.weight:nElement() + 27, flat:nElement())
      end)

      it('writes files of one order from any backend,' .. name, function()
         local rnn = make()
         local expected = parts(rnn)
         local host = torch.serialize(rnn)
         other = gaps
         rnn:cuda()
         local device = torch.serialize(rnn)
         local back = torch.deserialize(device) -- read with the layout that wrote it
         same.bits(expected, parts(back))
         assert.equal(rnn.weight:nElement(), back.weight:nElement())
         other = nil -- and with another layout
         same.bits(expected, parts(torch.deserialize(device)))
         same.bits(expected, parts(torch.deserialize(host)))
      end)
   end

   it('keeps weights shared, also in files', function()
      for _, gaps in ipairs{false, true} do
         other = gaps
         local one, two = make(), make()
         local expected = parts(one)
         two:share(one, 'weight', 'gradWeight')
         for _, net in ipairs{nn.Sequential():add(one):add(two),
            nn.Sequential():add(one):add(two):cuda()} do
            local back = torch.deserialize(torch.serialize(net))
            same.bits(expected, parts(back:get(1)))
            same.bits(expected, parts(back:get(2)))
            back:get(1).weight:fill(4)
            assert.equal(4, back:get(2).weight:min())
         end
      end
   end)

   it('updates views after a change of the layout', function()
      other = true
      local rnn = make()
      rnn:weights()
      rnn:cuda()
      rnn:weights()[3].recurrent.g:fill(5)
      assert.equal(16, rnn.weight:eq(5):sum())
      rnn:float()
      assert.equal(16, rnn.weight:eq(5):sum())
      assert.equal(5, rnn:weights()[3][7]:min())
      assert.equal(0, rnn.compactions)
   end)
end)
