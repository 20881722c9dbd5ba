-- Rows G11 to G20, and H22: problems reported by users of PyTorch's DataParallel
-- (docs/user-issues.md); other rows are in spec/nn/DataParallelTable_*_spec.lua.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

-- A module with state: it counts its calls, and fails on the given devices.
local classes = {}
local Alive, parent = torch.class('dptspec.Alive', 'nn.Module', classes)
function Alive:__init(fails)
   parent.__init(self)
   self.count, self.fails = 0, fails or {}
end
function Alive:updateOutput(input)
   self.count = self.count + 1
   local how = self.fails[input:getDevice()]
   if how == 'lua' then error('broken on device ' .. input:getDevice()) end
   if how == 'c' then input:view(7, 7, 7) end
   if how == 'table' then return self.nothing.here end
   self.output:resizeAs(input):copy(input)
   return self.output
end
function Alive:updateGradInput(_, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   return self.gradInput
end

describe('users of DataParallel', function()
   local most = same.most(8)
   same.seeded(4)

   local function wrap(net, n)
      return nn.DataParallelTable(1, true):add(net, same.range(n or most))
   end

   it('G11: replicas keep what they count; copies and files have replica 1\'s #devices2', function()
      local many = wrap(nn.Sequential():add(classes.Alive()):add(nn.Linear(3, 2)):cuda())
      local steps = {2 * most, 1, 2 * most, 1, 1}
      for _, rows in ipairs(steps) do
         local x = torch.randn(rows, 3):cuda()
         many:backward(x, many:forward(x))
         many:updateParameters(0.1)
      end
      for i = 1, most do -- once for each forward in which it had rows
         assert.equal(i == 1 and 5 or 2, many:get(i):get(1).count)
      end
      assert.equal(5, many:clone():get(1):get(1).count)
      local copy = many:clone()
      copy:forward(torch.randn(most, 3):cuda())
      for i = 1, most do assert.equal(6, copy:get(i):get(1).count) end
      assert.equal(2, many:get(most):get(1).count) -- the copy shares nothing
   end)

   it('G13: a device that is there twice is an error #devices2', function()
      local net = nn.Linear(2, 2):cuda()
      assert.error_matches(function() nn.DataParallelTable(1):add(net, {1, 2, 1}) end,
         'got device 1 twice')
      assert.error_matches(function() nn.DataParallelTable(1):add(net, 2):add(net, 2) end,
         'got device 2 twice')
      assert.error_matches(function() nn.DataParallel(net, {devices = {1, 1}}) end, 'twice')
   end)

   describe('G14: an error', function()
      -- Returns the message of a forward in which devices fail as specified.
      local function message(fails)
         local net = nn.Sequential():add(nn.Linear(3, 3))
            :add(nn.ConcatTable():add(nn.Identity()):add(classes.Alive(fails))):cuda()
         local many = wrap(net, 4)
         local before = cutorch.getDevice()
         local ok, text = pcall(many.forward, many, torch.randn(8, 3):cuda())
         assert.is_false(ok)
         assert.equal(before, cutorch.getDevice())
         -- the network still works
         many:apply(function(module) if module.fails then module.fails = {} end end)
         assert.equal(8, many:forward(torch.randn(8, 3):cuda())[1]:size(1))
         return text
      end

      it('names replica, device, module path, traceback and the message of C', function()
         if most < 4 then return pending('needs 4 devices') end
         local text = message{[2] = 'lua'}
         local first = 'In replica 2 of 4 on device 2 of nn.DataParallelTable:\n'
            .. 'In 2 module of nn.Sequential:\nIn 2 module of nn.ConcatTable:\n'
         assert.equal(1, text:find(first, 1, true))
         assert.truthy(text:find('broken on device 2\nstack traceback:\n', 1, true))
         assert.truthy(text:find("G11_G20_spec.lua:%d+: in function"))
         assert.is_nil(text:find('In replica 3', 1, true))
         text = message{[3] = 'c'}
         assert.truthy(text:find('view: .*torch.CudaTensor of size 2x3.*stack traceback'))
         text = message{[4] = 'table'}
         assert.truthy(text:find("attempt to index field 'nothing'", 1, true))
      end)

      it('lists the errors of all replicas', function()
         if most < 4 then return pending('needs 4 devices') end
         local text = message{[1] = 'lua', [3] = 'c', [4] = 'table'}
         local places = {}
         for i in text:gmatch 'In replica (%d) of 4 on device %d of nn.DataParallelTable:\n' do
            places[#places + 1] = tonumber(i)
         end
         assert.same({1, 3, 4}, places)
         local _, traces = text:gsub('stack traceback', '')
         assert.equal(3, traces)
         assert.truthy(text:find('broken on device 1', 1, true))
         assert.truthy(text:find('view: ', 1, true))
         assert.truthy(text:find("attempt to index field 'nothing'", 1, true))
      end)
   end)

   it('G16: files of a network and of the table around it are one format with one set of names',
      function()
         local file = os.tmpname()
         finally(function() os.remove(file) end)
         -- Returns the paths of all numbers, strings and tensors.
         local function names(value, path, list)
            if torch.isTensor(value) or type(value) ~= 'table' then
               list[path] = torch.type(value)
            else
               for k, v in pairs(value) do names(v, path .. '.' .. tostring(k), list) end
            end
            return list
         end
         local net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4)):cuda()
         net:forward(torch.randn(3, 3):cuda())
         torch.save(file, net:clearState())
         local plain = torch.load(file)
         local many = wrap(net)
         many:forward(torch.randn(2 * most, 3):cuda())
         many:clearState()
         torch.save(file, many)
         local loaded = torch.load(file)
         assert.equal('nn.DataParallelTable', torch.type(loaded))
         assert.same(names(plain, '', {}), names(loaded:get(1), '', {}))
         torch.save(file, many:get(1))
         local unwrapped = torch.load(file)
         assert.equal('nn.Sequential', torch.type(unwrapped))
         assert.same(names(plain, '', {}), names(unwrapped, '', {}))
         same.bits((many:getParameters()), (wrap(unwrapped):getParameters()))
         same.bits((many:getParameters()), (loaded:getParameters()))
      end)

   describe('G18: weights', function()
      local function rowsOf(many, rows, parts)
         many:forward(torch.randn(rows, 5):cuda())
         local list = {}
         for i = 1, parts do
            list[i] = many.inputGpu[i]:dim() > 0 and many.inputGpu[i]:size(1) or 0
         end
         return list
      end

      it('say how large the share of each device is #devices4', function()
         local many = nn.DataParallelTable(1, true, false, {weights = {3, 1}})
            :add(nn.Linear(5, 3):cuda(), {1, 2})
         for rows, shares in pairs{[1] = {1, 0}, [2] = {1, 1}, [4] = {3, 1}, [8] = {6, 2},
            [100] = {75, 25}} do
            assert.same(shares, rowsOf(many, rows, 2))
         end
         many.weights = {1, 9} -- for example, measured times
         assert.same({11, 89}, rowsOf(many, 100, 2))
         many.weights = nil
         assert.same({50, 50}, rowsOf(many, 100, 2))
         many = wrap(nn.Linear(5, 3):cuda(), 4)
         many.weights = {1, 1, 1, 1}
         assert.same({3, 2, 2, 2}, rowsOf(many, 9, 4))
      end)

      it('change no result', function()
         local one = nn.Sequential():add(nn.Linear(5, 6)):add(nn.Dropout(0.4)):add(nn.Linear(6, 3))
            :cuda()
         local many = wrap(one:clone())
         many.weights = {}
         for i = 1, most do many.weights[i] = 1 + (i * 5) % 7 end
         for rows = 1, 4 * most do
            same.compare(one, many, torch.randn(rows, 5):cuda(), 1e-5)
            local total = 0
            for i = 1, many.used do
               total = total + many.inputGpu[i]:size(1)
            end
            assert.equal(rows, total)
         end
         same.compare(one, many, torch.CudaTensor(), 1e-5)
      end)

      it('are copied and saved, and checked #devices2', function()
         local file = os.tmpname()
         finally(function()
            os.remove(file)
            nn.DataParallelTable.deserializeNGPUs = nil
         end)
         local many = wrap(nn.Linear(5, 3):cuda(), 2)
         many.weights = {3, 1}
         torch.save(file, many)
         assert.same({6, 2}, rowsOf(torch.load(file), 8, 2))
         assert.same({6, 2}, rowsOf(many:clone(), 8, 2))
         nn.DataParallelTable.deserializeNGPUs = 1 -- weights do not apply to other devices
         assert.same({8}, rowsOf(torch.load(file), 8, 1))
         many.weights = {1, 2, 3}
         assert.error_matches(function() many:forward(torch.CudaTensor(2, 5)) end,
            'weights has 3 numbers, wanted one for each of 2 devices')
         for _, wrong in ipairs{{}, {1, 0}, {1, 'x'}, {1, -1}, {1, 1 / 0}, 3} do
            assert.error_matches(function()
               return nn.DataParallelTable(1, true, false, {weights = wrong})
            end, 'weights wants a list of numbers above 0')
         end
      end)
   end)

   it('G19: gradients of layers that touch few rows are dense, and add up', function()
      local one = nn.Sequential():add(nn.LookupTable(50, 4)):add(nn.View(-1):setNumInputDims(2))
         :add(nn.Linear(12, 3)):cuda()
      local many = wrap(one:clone())
      for _ = 1, 3 do
         for _, net in ipairs{one, many} do net:zeroGradParameters() end
         local x = torch.LongTensor(2 * most + 1, 3):random(50):type('torch.CudaLongTensor')
         one:forward(x)
         many:forward(x)
         local gradOutput = torch.randn(2 * most + 1, 3):cuda()
         one:backward(x, gradOutput)
         many:backward(x, gradOutput)
         same.close(select(2, one:getParameters()), select(2, many:getParameters()), 1e-5)
         for i = 1, most do
            assert.is_true(many:get(i):get(1).gradWeight:isContiguous())
            assert.same({50, 4}, many:get(i):get(1).gradWeight:size():totable())
         end
      end
      -- replicas whose gradient has another type than the parameter are rejected, not converted
      one:get(1).gradWeight = one:get(1).gradWeight:type('torch.CudaDoubleTensor')
      assert.error_matches(function() wrap(one):forward(torch.CudaTensor(1, 3):fill(1)) end,
         'parameter 1 is a torch.CudaTensor and its gradient a torch.CudaDoubleTensor')
   end)

   it('H22: masks differ between devices, are those of one device, and come again', function()
      local net = nn.Dropout(0.5):cuda()
      local many = wrap(net:clone())
      local input = torch.CudaTensor(2 * most, 64):fill(1)
      local function draws()
         cutorch.manualSeedAll(7)
         torch.manualSeed(7)
         local list = {}
         for step = 1, 3 do list[step] = many:forward(input):clone() end
         return list
      end
      for step = 1, 3 do
         same.bits(same.rewind(net.forward, net, input), many:forward(input))
         for i = 1, 2 * most do
            for k = 1, i - 1 do assert.is_false(many.output[i]:equal(many.output[k])) end
         end
         assert.is_true(step == 1 or many.output:ne(net.output):sum() == 0)
      end
      local first = many:clone()
      local before = draws()
      many = first
      same.bits(before, draws())
      assert.is_false(before[1]:equal(before[2]))
   end)
end)
