--- Random draws of replicas: rows draw as on one device, and no two replicas draw the same.
local dpt = require 'dpt'
local torch, nn, cutorch, cudnn = dpt.torch, dpt.nn, dpt.cutorch, dpt.cudnn
local random = require 'dpt.parallel.dispatch.random'
local support = require 'spec.support.modules'
local same = require 'spec.support.parallel'

local most = math.min(4, cutorch.getDeviceCount())

same.dispatched('H22: what replicas draw', function()
   same.seeded(11)

   local function wrap(module, dimension)
      return nn.DataParallelTable(dimension or 1):add(module:clone(), same.range(most))
   end

   -- Asserts that the rows (or columns) of an output are distinct.
   local function differ(output, dimension)
      local n = output:size(dimension)
      for i = 1, n do
         for k = 1, i - 1 do
            assert.is_false(output:select(dimension, i):equal(output:select(dimension, k)))
         end
      end
   end

   --- Modules with all kinds of draws; rows of 12.
   local modules = {
      Dropout = function() return nn.Dropout(0.5) end,
      SpatialDropout = function()
         return nn.Sequential():add(nn.View(-1, 12, 1, 1)):add(nn.SpatialDropout(0.5))
            :add(nn.View(-1, 12))
      end,
      VolumetricDropout = function()
         return nn.Sequential():add(nn.View(-1, 12, 1, 1, 1)):add(nn.VolumetricDropout(0.5))
            :add(nn.View(-1, 12))
      end,
      WhiteNoise = function() return nn.WhiteNoise(0, 1) end,
      RReLU = function() return nn.Sequential():add(nn.MulConstant(-1)):add(nn.RReLU()) end,
      ['rows and steps in one dimension'] = function()
         return nn.Sequential():add(nn.View(-1, 3)):add(nn.Dropout(0.5)):add(nn.View(-1, 12))
      end,
      ['recurrent dropout'] = function()
         return nn.Sequential():add(nn.View(3, 4):setNumInputDims(1))
            :add(cudnn.LSTM(4, 4, 3, true, 0.5))
      end,
   }
   -- Returns one network with all of them, since creating replicas in threads is slow.
   local function beside(list)
      local names, net = {}, nn.ConcatTable()
      for name in pairs(list) do names[#names + 1] = name end
      table.sort(names)
      for _, name in ipairs(names) do net:add(list[name]()) end
      return net:cuda(), names
   end

   it('continues from the rows of other processes, whose replicas draw differently', function()
      local function draw(row, rank, count)
         return random.withOffset(row, rank, function()
            local passes = random.passes(1, {0, count}, 1)
            return random.within(passes[1], function()
               assert.is_nil(random.running())
               assert.is_true(random.isShared())
               return torch.CudaTensor(count, 3):uniform(), torch.CudaTensor(5):uniform()
            end)
         end)
      end
      cutorch.setDevice(1)
      cutorch.manualSeed(4)
      local start = cutorch.getRNGState()
      local whole, loose = draw(0, 0, 6)
      cutorch.setRNGState(start)
      local part, other = draw(2, 1, 3)
      assert.is_true(part:equal(whole:narrow(1, 3, 3)))
      assert.is_false(other:equal(loose))
      local offset = random.offset(1)
      random.advance(1, offset + 5)
      assert.equal(offset + 5, random.offset(1))
      random.advance(1, offset)
      assert.equal(offset + 5, random.offset(1))
      assert.error_matches(function() random.withOffset(1, 1, error, 'inside', 0) end, 'inside')
   end)

   it('equals by rows the draws of one device, in modules of all kinds', function()
      local one, names = beside(modules)
      local many = wrap(one)
      for rows = 2 * most + 1, 1, -1 do
         local input = torch.CudaTensor(rows, 12):fill(1)
         local output = same.rewind(many.forward, many, input)
         one:forward(input)
         for k, name in ipairs(names) do
            -- the sums of a product may have another order
            same.close({[name] = one.output[k]}, {[name] = output[k]},
               name == 'recurrent dropout' and 1e-6 or 0)
            differ(output[k], 1)
         end
      end
   end)

   it('equals the draws of one device after an empty batch, with sizes or none (attack B1)',
      function()
      local one = nn.Sequential():add(nn.Dropout(0.5)):add(nn.WhiteNoise()):cuda()
      local many = wrap(one)
      local empty, rows0 = torch.CudaTensor(), torch.CudaTensor(0, 9)
      local input = torch.CudaTensor(3 * most, 9):fill(1)
      local function steps(net)
         local list = {}
         for i, x in ipairs{input, empty, input, empty, empty, input, rows0, input} do
            list[i] = net:forward(x):clone()
         end
         return list, cutorch.getRNGStateAll()
      end
      local expected, states = same.rewind(steps, one)
      local got, others = steps(many)
      same.bits(expected, got)
      same.bits(states, others)
   end)

   it('differs if the dimension that is split is not the first', function()
      local many = wrap(beside{Dropout = modules.Dropout, WhiteNoise = modules.WhiteNoise,
         RReLU = modules.RReLU}, 2)
      for steps = 40, 41 do -- a multiple of a replica's rows, or not
         for _, output in ipairs(many:forward(torch.CudaTensor(steps, 2 * most + 1):fill(1))) do
            differ(output, 2)
         end
      end
   end)

   it('differs if it is unknown which rows a replica has', function()
      -- replicas get the whole entry, whose first dimension does not count their rows
      local many = wrap(nn.Sequential():add(nn.SelectTable(2)):add(nn.Dropout(0.5)):cuda())
      many.splitSpec = {1, 'replicate'}
      for _, size in ipairs{35, 2 * most} do
         local entry = torch.CudaTensor(size, 20):fill(1)
         local output = many:forward{torch.CudaTensor(2 * most, 2):fill(1), entry}
         differ(output:view(most, -1), 1)
      end
      many.splitSpec = {'replicate', 'replicate'}
      local entry = torch.CudaTensor(35, 20):fill(1)
      differ(many:forward{entry, entry}:view(most, -1), 1)
   end)

   it('differs between the replicas of a module that draws by a tensor\'s methods', function()
      local net = nn.ConcatTable()
      for _, method in ipairs{'bernoulli', 'normal', 'uniform', 'exponential', 'random', 'randperm',
         'multinomial'} do
         net:add(support.Drawing(method))
      end
      local many = wrap(net:cuda())
      local function pass()
         local list = {}
         for k, output in ipairs(many:forward(torch.CudaTensor(2 * most, 2):fill(1))) do
            list[k] = output:view(most, -1):clone()
         end
         return list
      end
      torch.manualSeed(11)
      local first, second = pass(), pass() -- the next pass draws other numbers
      for k, numbers in ipairs(first) do differ(torch.cat(numbers, second[k], 1), 1) end
      torch.manualSeed(11)
      same.bits(first, pass())
   end)

   it('continues after the replica that drew most', function()
      local many = wrap(support.DrawingMore():cuda())
      local input = torch.range(1, most):view(-1, 1):cuda() -- replica i draws i times
      local seen = {}
      for _ = 1, 3 do
         local output = many:forward(input)
         for i = 1, most do
            for k = 1, i do
               assert.is_nil(seen[output[i][k]])
               seen[output[i][k]] = true
            end
         end
      end
   end)

   it('continues like the network alone', function()
      local one = nn.Dropout(0.5):cuda()
      local input = torch.CudaTensor(2 * most, 30):fill(1)
      local expected = same.rewind(function()
         return {one:forward(input):clone(), one:forward(input):clone(),
            one:forward(input):clone(), torch.CudaTensor(5):uniform()}
      end)
      local got = {one:forward(input):clone()}
      local many = nn.DataParallelTable(1):add(one, same.range(most))
      got[2] = many:forward(input):clone()
      got[3] = one:forward(input):clone()
      got[4] = torch.CudaTensor(5):uniform()
      same.bits(expected, got)
   end)

   it("differs from another network's draws on the same devices", function()
      local a, b = wrap(nn.Dropout(0.5):cuda()), wrap(nn.Dropout(0.5):cuda())
      local input = torch.CudaTensor(2 * most, 100):fill(1)
      local masks = {a:forward(input):clone(), b:forward(input):clone(), a:forward(input):clone()}
      differ(torch.cat(masks, 1), 1)
   end)
end)

describe('Draws outside a pass', function()
   it('are the same on all devices after equal seeds', function()
      cutorch.manualSeedAll(5)
      local first
      for device = 1, cutorch.getDeviceCount() do
         cutorch.withDevice(device, function()
            local got = torch.CudaTensor(100):uniform():float()
            first = first or got
            same.bits(first, got)
         end)
      end
   end)

   it('are those of before if a replica has raised', function()
      local probe = same.Probe(function(input)
         input:clone():uniform()
         error('stop')
      end)
      local many = nn.DataParallelTable(1):add(probe, same.range(most))
      assert.error_matches(function() many:forward(torch.CudaTensor(most, 2):fill(1)) end, 'stop')
      for device = 2, most do
         cutorch.manualSeed(5, 1)
         cutorch.manualSeed(5, device)
         local list = {}
         for k, place in ipairs{1, device} do
            list[k] = cutorch.withDevice(place, function()
               return torch.CudaTensor(100):uniform():float()
            end)
         end
         same.bits(list[1], list[2])
      end
   end)
end)

describe('A pass', function()
   local function uniform() return torch.CudaTensor(6, 5):uniform():float() end

   before_each(function() cutorch.manualSeed(5) end)

   it('ends for a device that is seeded in it', function()
      local plain = uniform()
      cutorch.manualSeed(5)
      local pass = random.passes(1, {4, 10}, 1)[1]
      local got = random.within(pass, function()
         local moved = uniform()
         cutorch.manualSeed(5)
         return {moved, uniform()}
      end)
      assert.is_false(plain:equal(got[1]))
      same.bits(plain, got[2])
   end)

   it('draws the same numbers again from a state that was read in it', function()
      local pass = random.passes(1, {4, 10, 13}, 2)[2]
      local got = random.within(pass, function()
         uniform()
         local state = cutorch.getRNGState()
         local first, second = uniform(), uniform()
         cutorch.setRNGState(state)
         return {first, second, uniform(), uniform()}
      end)
      same.bits(got[1], got[3])
      same.bits(got[2], got[4])
      assert.is_false(got[1]:equal(got[2]))
   end)

   it('may be nested', function()
      local outer, last = random.passes(1, {0, 6}, 1)[1], nil
      local got = random.within(outer, function()
         local first = uniform()
         local inner = random.passes(1, {0, 6}, 1)[1]
         local second = random.within(inner, uniform)
         last = cutorch.getRNGState()
         return {first, second, uniform()}
      end)
      cutorch.manualSeed(5)
      same.bits({uniform(), uniform()}, {got[1], got[2]})
      assert.is_true(last:equal(cutorch.getRNGState()))
      same.bits(uniform(), got[3])
      local function nest() return random.within(outer, nest) end
      assert.error_matches(nest, '8 passes lie within each other')
   end)
end)
