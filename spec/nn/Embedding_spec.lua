--- nn.Embedding, its weight shared with an output layer, and nn.EmbeddingBag.
local dpt = require 'dpt'
local check = require 'spec.support.jacobian'
local torch, nn = dpt.torch, dpt.nn

local function indices(most, ...)
   return torch.LongTensor():resize(...):random(1, most)
end

describe('nn.Embedding', function()
   it('returns rows for indices of any size and type, on the host and on devices', function()
      for _, typename in ipairs{'Double', 'Float', 'Cuda', 'CudaHalf'} do
         local m = nn.Embedding(5, 3):type('torch.' .. typename .. 'Tensor')
         for _, size in ipairs{{4}, {2, 3}, {2, 1, 3, 2}, {0, 3}} do
            local x = indices(5, torch.LongStorage(size))
            local y = m:forward(x)
            size[#size + 1] = 3
            assert.same(size, y:size():totable())
            for i = 1, x:nElement() do
               local row = m.weight[x:view(-1)[i]]
               assert.equal(0, (y:view(-1, 3)[i] - row):abs():max())
            end
            assert.equal(0, (m:forward(x:int()) - y):ne(0):sum())
         end
      end
   end)

   it('has the gradients that differences show', function()
      for _, size in ipairs{{5}, {2, 2, 3}} do
         check.module(function() return nn.Embedding(4, 3) end,
            function() return indices(4, torch.LongStorage(size)) end, {noInput = true})
      end
   end)

   it('keeps the row of paddingIdx zero', function()
      for _, padding in ipairs{2, -3} do
         local m = nn.Embedding(4, 3, padding)
         assert.same({0, 0, 0}, m.weight[2]:totable())
         assert.is_true(m.weight:ne(0):sum() == 9)
         m:zeroGradParameters()
         local x = torch.LongTensor{{2, 4}, {2, 2}}
         m:forward(x)
         m:backward(x, torch.ones(2, 2, 3))
         assert.same({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}}, m.gradWeight:totable())
         m:reset(0.5)
         assert.equal(0, m.weight[2]:abs():max())
      end
   end)

   it('rejects a padding index and indices that it does not have', function()
      for _, padding in ipairs{0, 5, -5, 1.5} do
         assert.error_matches(function() nn.Embedding(4, 3, padding) end,
            "^nn.Embedding: argument 'paddingIdx' is " .. ('%s'):format(padding):gsub('%p', '%%%0')
               .. ', wanted an index from 1 to 4, or from the end, %-1 to %-4')
      end
      local m = nn.Embedding(4, 3)
      for _, bad in ipairs{0, -1, 5} do
         assert.error_matches(function() m:forward(torch.LongTensor(2, 2, 1):fill(bad)) end,
            "^lookup: argument 'indices' has " .. (bad < 0 and '%' or '') .. bad .. ' at element 1')
      end
      assert.error_matches(function() m:forward{1, 2} end, "argument 'input', wanted a tensor")
      assert.equal(3, m:forward(torch.LongTensor{4}):nElement())
   end)

   describe('with a weight that an output layer shares', function()
      local words, width = 7, 4
      local function tied()
         local encoder, decoder = nn.Embedding(words, width), nn.Linear(width, words, false)
         decoder:share(encoder, 'weight', 'gradWeight')
         return nn.Sequential():add(encoder):add(nn.Linear(width, width)):add(nn.Tanh())
            :add(decoder)
      end
      local function isTied(net)
         local encoder, decoder = net:get(1), net:get(4)
         encoder.weight:fill(0.25)
         encoder.gradWeight:fill(0.5)
         assert.equal(0, decoder.weight:ne(0.25):sum() + decoder.gradWeight:ne(0.5):sum())
         assert.equal(words * width + width * width + width, (net:getParameters()):nElement())
         encoder.weight:fill(0.75)
         assert.equal(0, decoder.weight:ne(0.75):sum())
      end

      it('has the sum of both gradients', function()
         check.module(tied, function() return indices(words, 2, 3) end, {noInput = true})
      end)

      it('keeps the memory shared in copies, files, other types and flat parameters', function()
         local net = tied()
         isTied(net:clone())
         isTied(net:clone():float())
         isTied(torch.deserialize(torch.serialize(net)))
         net:getParameters()
         isTied(net:clone())
         isTied(net)
         if dpt.cutorch.getDeviceCount() > 0 then isTied(tied():cuda()) end
      end)

      it('trains on two devices to the weights of one device', function()
         if dpt.cutorch.getDeviceCount() < 2 then return pending 'wants two devices' end
         torch.manualSeed(3)
         local one = tied():cuda()
         local many = nn.DataParallelTable(1, true):add(one:clone(), {1, 2})
         local criterion = nn.MSECriterion():cuda()
         local flats = {}
         for i, net in ipairs{one, many} do flats[i] = {net:getParameters()} end
         assert.equal(flats[1][1]:nElement(), flats[2][1]:nElement())
         for _ = 1, 3 do
            local x, target = indices(words, 5, 2), torch.rand(5, 2, words):cuda()
            for i, net in ipairs{one, many} do
               local state = {learningRate = 0.3}
               dpt.optim.sgd(function()
                  net:zeroGradParameters()
                  local value = criterion:forward(net:forward(x), target)
                  net:backward(x, criterion:backward(net.output, target))
                  return value, flats[i][2]
               end, flats[i][1], state)
            end
            check.close(flats[2], flats[1], 1e-6, 'parameters and gradients')
         end
      end)
   end)
end)

describe('nn.EmbeddingBag', function()
   -- recorded with PyTorch: rows sin(1 .. 12), four bags of 2, 0, 3 and 0 indices, gradOutput cos
   local recorded = {
      sum = {{0.297449873918527, -0.0906927797250218, -0.395452909940568, 0, 0, 0,
         0.55717070212965, 1.01979221858363, 0.544821472284587, 0, 0, 0},
         {0.54030230586814, -0.416146836547142, -0.989992496600445, 0.753902254343305,
         -0.145500033808614, -0.911130261884677, 1.50780450868661, -0.291000067617227,
         -1.82226052376935, 0.54030230586814, -0.416146836547142, -0.989992496600445}},
      mean = {{0.148724936959263, -0.0453463898625109, -0.197726454970284, 0, 0, 0,
         0.18572356737655, 0.339930739527875, 0.181607157428196, 0, 0, 0},
         {0.27015115293407, -0.208073418273571, -0.494996248300223, 0.251300751447768,
         -0.0485000112695378, -0.303710087294892, 0.502601502895536, -0.0970000225390757,
         -0.607420174589785, 0.27015115293407, -0.208073418273571, -0.494996248300223}},
      max = {{0.841470984807897, 0.909297426825682, 0.141120008059867, 0, 0, 0,
         0.656986598718789, 0.989358246623382, 0.412118485241757, 0, 0, 0},
         {0.54030230586814, -0.416146836547142, -0.989992496600445, 0, 0, 0, 0.753902254343305,
         -0.145500033808614, -0.911130261884677, 0, 0, 0}},
   }
   local input = {torch.LongTensor{4, 1, 3, 3, 2}, torch.LongTensor{1, 3, 3, 6}}

   for mode, wanted in pairs(recorded) do
      it('returns the values and gradients of PyTorch, ' .. mode, function()
         for typename, allowed in pairs{DoubleTensor = 1e-14, CudaTensor = 1e-6} do
            typename = 'torch.' .. typename
            local m = nn.EmbeddingBag(4, 3, mode):type(typename)
            m.weight:copy(torch.range(1, 12):sin())
            m:zeroGradParameters()
            local y = m:forward(input)
            check.close(y, torch.Tensor(wanted[1]):view(4, 3), allowed, 'output')
            local gradInput = m:backward(input, torch.range(1, 12):cos():view(4, 3):type(typename))
            check.close(m.gradWeight, torch.Tensor(wanted[2]):view(4, 3), allowed, 'gradWeight')
            check.close(gradInput, {torch.zeros(5), torch.zeros(4)}, 0, 'gradInput')
         end
      end)

      it('has the gradients that differences show, ' .. mode, function()
         for _, x in ipairs{torch.LongTensor{{1, 4, 1}, {5, 2, 3}}, input} do
            check.module(function() return nn.EmbeddingBag(5, 2, mode) end,
               function() return x end, {noInput = true})
         end
      end)

      it('treats a row of a matrix as a bag, ' .. mode, function()
         local m = nn.EmbeddingBag(6, 3, mode)
         local x = indices(6, 4, 3)
         local y = m:forward(x):clone()
         check.close(m:forward{x:view(-1), torch.LongTensor{1, 4, 7, 10}}, y, 1e-15, 'output')
         assert.same({2, 3}, m:forward(torch.LongTensor(2, 0)):size():totable())
         assert.equal(0, m:forward(torch.LongTensor(2, 0)):abs():max())
         assert.same({0, 3}, m:forward(torch.LongTensor(0, 2)):size():totable())
         assert.equal(0, m:forward{torch.LongTensor(), torch.LongTensor{1, 1}}:abs():max())
         local gy = torch.rand(2, 3)
         m:zeroGradParameters()
         m:backward({torch.LongTensor(), torch.LongTensor{1, 1}}, gy)
         assert.equal(0, m.gradWeight:abs():max())
      end)
   end

   it('limits norms and scales gradients by frequency as nn.LookupTable', function()
      local m = nn.EmbeddingBag(3, 2, 'sum'):setMaxNorm(1):scaleGradByFreq()
      m.weight:fill(3)
      local y = m:forward(torch.LongTensor{{1, 2, 2}})
      assert.is_true((y - 3 * math.sqrt(0.5)):abs():max() < 1e-6)
      assert.same({3, 3}, m.weight[3]:totable())
      m:zeroGradParameters()
      m:backward(torch.LongTensor{{1, 2, 2}}, torch.ones(1, 2))
      assert.same({{1, 1}, {1, 1}, {0, 0}}, m.gradWeight:totable())
   end)

   it('rejects offsets, indices and modes that do not fit', function()
      local m = nn.EmbeddingBag(4, 2)
      local x = torch.LongTensor{1, 2, 3}
      for _, offsets in ipairs{{2, 3}, {0, 1}, {1, 3, 2}, {1, 5}} do
         assert.error_matches(function() m:forward{x, torch.LongTensor(offsets)} end,
            "^nn.EmbeddingBag: argument 'offsets' does not begin with 1, or decreases, or exceeds"
               .. ' 4, the number of indices %+ 1')
      end
      assert.error_matches(function() m:forward{x, torch.LongTensor()} end, "'offsets'")
      for _, bad in ipairs{x, torch.LongTensor(1, 2, 3):fill(1), {x}, {x, 3}, {x:view(1, 3), x}} do
         assert.error_matches(function() m:forward(bad) end,
            '^nn.EmbeddingBag: input wants N x B indices or {indices, offsets}, both vectors')
      end
      assert.error_matches(function() m:forward{torch.LongTensor{1, 5}, torch.LongTensor{1}} end,
         "^lookup: argument 'indices' has 5 at element 2, wanted 1 to 4")
      local many = nn.EmbeddingBag(257, 2):bfloat16()
      local ones = torch.BFloat16Tensor(1, 300):fill(1)
      assert.error_matches(function() many:forward(ones) end,
         "^nn.EmbeddingBag: argument 'input' has indices in a torch.BFloat16Tensor, which cannot"
         .. ' represent the indices up to 257, wanted a torch.LongTensor')
      assert.error_matches(function()
         many:forward{torch.LongTensor(300):fill(1), torch.BFloat16Tensor{1}}
      end, 'which cannot represent the indices up to 301, wanted a torch.LongTensor')
      assert.error_matches(function() nn.EmbeddingBag(4, 2, 'median') end,
         "^nn.EmbeddingBag: argument 'mode' is median, wanted sum, mean or max")
      m:forward{x, torch.LongTensor{1, 2}}
      assert.error_matches(function()
         m:backward({x, torch.LongTensor{1, 2}}, torch.ones(3, 2))
      end, "^nn.EmbeddingBag: argument 'gradOutput' is a torch.DoubleTensor of size 3x2, wanted the"
         .. ' size of a torch.DoubleTensor of size 2x2')
      for _, other in ipairs{torch.LongTensor{{1, 2}, {1, 2}}, {torch.LongTensor{1, 2},
         torch.LongTensor{1, 2}}} do
         assert.error_matches(function() m:backward(other, torch.ones(2, 2)) end,
            "^nn.EmbeddingBag: argument 'input' is not the input of the last forward")
      end
   end)
end)
