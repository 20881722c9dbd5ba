-- dpt.nn.DataParallelTable.files: networks in files written by versions of cunn and dpt, loaded
-- with any number of devices.
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

local function network()
   return nn.Sequential():add(nn.Linear(4, 5)):add(nn.BatchNormalization(5)):add(nn.Tanh())
      :add(nn.Linear(5, 2))
end

-- Writes an object of a class as Torch7 does, ignoring the class's own write method; write(file)
-- writes its content.
local function writeAs(file, index, name, version, write)
   file:writeInt(4)
   file:writeInt(index)
   for _, text in ipairs{'V ' .. version, name} do
      file:writeInt(#text)
      file:writeChar(torch.CharStorage():string(text))
   end
   write(file)
end

-- Writes the fields of a network with index 1000, including its dispatcher, which refers to it.
local function writeFields(file, fields, impl)
   local n = impl and 1 or 0
   for _ in pairs(fields) do n = n + 1 end
   file:writeInt(3)
   file:writeInt(1001)
   file:writeInt(n)
   for k, v in pairs(fields) do
      file:writeObject(k)
      file:writeObject(v)
   end
   if not impl then return end
   file:writeObject 'impl'
   writeAs(file, 1002, impl, 1, function()
      file:writeInt(3)
      file:writeInt(1003)
      file:writeInt(1)
      file:writeObject 'dpt'
      file:writeInt(4)
      file:writeInt(1000)
   end)
end

-- Reads an object written by the given version; write(file) writes its content.
local function read(version, write)
   local file = torch.MemoryFile():binary()
   writeAs(file, 1000, 'nn.DataParallelTable', version, function() write(file) end)
   file:seek(1)
   return file:readObject()
end

local function distance(a, b) return (a:double() - b:double()):abs():max() end

describe('A file with nn.DataParallelTable', function()
   local most = same.most(8)
   local x, path

   before_each(function()
      path = os.tmpname()
      torch.manualSeed(3)
      cutorch.setDevice(1)
      x = torch.randn(11, 4):cuda()
   end)
   after_each(function()
      os.remove(path)
      nn.DataParallelTable.deserializeNGPUs = nil
   end)

   local function evaluateAlike(one, net)
      one:evaluate()
      net:evaluate()
      assert.is_true(distance(net:forward(x), one:forward(x)) < 1e-6)
   end

   it('is saved on n devices and loaded on m (A12)', function()
      for n = 1, most do
         local net = nn.DataParallelTable(1, n % 2 == 0):add(network():cuda(), same.range(n))
         same.pass(net, x, torch.ones(11, 2):cuda())
         net:updateParameters(0.1)
         net:evaluate()
         local y = net:forward(x):clone()
         torch.save(path, net)
         for m = 1, most do
            nn.DataParallelTable.deserializeNGPUs = m
            local loaded = torch.load(path)
            assert.same(same.range(m), loaded.gpuAssignments)
            assert.is_true(distance(loaded:forward(x), y) < 1e-6)
            if m == n then assert.equal(0, distance(loaded:forward(x), y)) end
            assert.equal(1, cutorch.getDevice())
         end
      end
      nn.DataParallelTable.deserializeNGPUs = cutorch.getDeviceCount() + 1
      assert.error_matches(function() torch.load(path) end, 'deserializeNGPUs')
   end)

   it('contains what cunn reads: the devices, then the fields that it expects', function()
      local net = nn.DataParallelTable(1, true):add(network():cuda(), same.range(most))
      net.note = 'mine'
      local parameters = net:getParameters()
      net:forward(x)
      local f = torch.MemoryFile():binary()
      f:writeObject{net, parameters}
      f:seek(1)
      f:readInt() f:readInt() f:readInt() f:readObject() -- the outer table, its first key
      assert.equal(4, f:readInt())
      f:readInt()
      assert.equal('V 3', f:readChar(f:readInt()):string())
      assert.equal('nn.DataParallelTable', f:readChar(f:readInt()):string())
      assert.same(same.range(most), f:readObject())
      local fields = f:readObject()
      assert.equal(1, #fields.modules)
      assert.equal('mine', fields.note)
      assert.equal(1, #fields.flattenedParams)
      assert.same({1, true, false, false, 'torch.CudaTensor'}, {fields.dimension,
         fields.flattenParams, fields.needsSync, fields.usenccl, fields.typeStr})
      assert.same({'torch.CudaTensor', 'torch.CudaTensor'}, {fields.flattenedParams[1][1]:type(),
         fields.flattenedParams[1][2]:type()})
      for _, name in ipairs{'inputGpu', 'gradOutputGpu', 'outputGpu', 'gradInputGpu'} do
         assert.same({}, fields[name])
      end
      for _, name in ipairs{'impl', 'params', 'state', 'used'} do assert.is_nil(fields[name]) end
      local loaded, flat = unpack(torch.MemoryFile(f:storage(), 'r'):binary():readObject())
      assert.equal('mine', loaded.note)
      assert.is_true(loaded:getParameters():storage() == flat:storage())
   end)

   it('of version 1, with all replicas and the dispatcher in it, is read #devices2', function()
      local one = network():cuda()
      for _, impl in ipairs{'none', 'nn.DataParallelTable.Basic', 'nn.DataParallelTable.Threads'} do
         local fields = {dimension = 1, modules = {one, one:clone(), one:clone()},
            gpuAssignments = {3, 1, 2}, inputGpu = {x}, gradOutputGpu = {}, outputGpu = {},
            gradInputGpu = {}, flattenedParamsGpu = {}, train = true, output = x, gradInput = x}
         local net = read(1, function(f) writeFields(f, fields, impl ~= 'none' and impl) end)
         assert.same(most >= 3 and {3, 1, 2} or {1, 2}, net.gpuAssignments)
         assert.equal(1, #net.modules)
         assert.equal(net.gpuAssignments[1], net.modules[1]:get(1).weight:getDevice())
         evaluateAlike(one, net)
         one:training()
      end
   end)

   it('of version 2 or 3, with the devices before the fields, is read #devices2', function()
      local one = network():cuda()
      for version = 2, 3 do
         local net = read(version, function(f)
            f:writeObject{2, 1, 99}
            f:writeObject{dimension = 1, modules = {one}, gpuAssignments = {2, 1, 99},
               flattenParams = true, flattenedParams = {{x, x}}, usenccl = false, train = true,
               needsSync = true, outputDevice = 99}
         end)
         assert.same({2, 1}, net.gpuAssignments)
         assert.is_nil(net.outputDevice)
         assert.equal(2, net:get(1):get(1).weight:getDevice())
         evaluateAlike(one, net)
         net:training()
         same.pass(net, x, torch.ones(11, 2):cuda())
         one:training()
      end
   end)

   it('of cunn stores its type in typeStr, for any default type (B9) #devices2', function()
      for _, kind in ipairs(elements.reals) do
         for _, trained in ipairs{false, true} do
            local typename = 'torch.' .. elements.onDevice(kind) .. 'Tensor'
            local host = 'torch.' .. kind .. 'Tensor'
            local one = network():cuda():type(typename)
            -- all fields of a cunn object after its constructor, add and type, and maybe a step
            local like = trained and torch.getmetatable(typename) or torch.DoubleTensor
            local fields = {_type = 'torch.DoubleTensor', typeStr = typename, modules = {one},
               output = like.new(), gradInput = like.new(), dimension = 1, gpuAssignments = {1, 2},
               inputGpu = {}, gradOutputGpu = {}, outputGpu = {}, gradInputGpu = {},
               flattenParams = true, usenccl = false, needsSync = trained}
            if trained then
               fields.flattenedParams, fields.maxUsedGpu = {{one:getParameters()}}, 2
            end
            local net = read(3, function(f)
               f:writeObject{1, 2}
               writeFields(f, fields, 'nn.DataParallelTable.Basic')
            end)
            assert.equal(typename, net:type())
            one:evaluate()
            net:evaluate()
            local input = x:type(host)
            local output = net:forward(input)
            assert.equal(typename, output:type())
            assert.is_true(distance(output, one:forward(x:type(typename))) < 1e-3)
            assert.equal(typename, torch.deserialize(torch.serialize(net)):type())
         end
      end
   end)

   it('of cunn that was run by threads keeps its init function', function()
      local one = network():cuda()
      local f = torch.MemoryFile():binary()
      writeAs(f, 1000, 'nn.DataParallelTable', 3, function()
         f:writeObject{1, 2}
         f:writeInt(3)
         f:writeInt(1001)
         f:writeInt(3)
         f:writeObject 'dimension'
         f:writeObject(1)
         f:writeObject 'impl'
         writeAs(f, 1002, 'nn.DataParallelTable.Threads', 1, function()
            f:writeObject{initFunc = function() return one end}
         end)
         f:writeObject 'modules'
         f:writeObject{one}
      end)
      local function withFunctions(allowed)
         return torch.MemoryFile(f:storage(), 'r'):binary():allowFunctions(allowed):readObject()
      end
      assert.error_matches(function() withFunctions(false) end, 'holds a Lua function')
      assert.equal(1, cutorch.getDevice())
      for _, allowed in ipairs{true, 'skip'} do
         local net = withFunctions(allowed)
         assert.equal('nn.DataParallelTable.Basic', torch.type(net.impl))
         evaluateAlike(one, net)
      end
   end)

   it('that is damaged raises one error message', function()
      for _, bad in ipairs{{false, {}}, {{1}, 5}, {{1}, {}}, {{1}, {modules = {4}}}, {{}, {}}} do
         assert.error_matches(function()
            read(3, function(f)
               f:writeObject(bad[1])
               f:writeObject(bad[2])
            end)
         end, 'the file holds no')
      end
      assert.equal(1, cutorch.getDevice())
   end)

   it('does not mention threads #devices2', function()
      local net = nn.DataParallelTable(1, true):add(network():cuda(), {1, 2}):threads()
      same.pass(net, x, torch.ones(11, 2):cuda())
      net:evaluate()
      local y = net:forward(x):clone()
      torch.save(path, net)
      for _, run in ipairs{'Basic', 'Threads'} do
         local loaded = torch.load(path)
         assert.equal('nn.DataParallelTable.Basic', torch.type(loaded.impl))
         if run == 'Threads' then loaded:threads() end
         assert.equal(0, distance(loaded:forward(x), y))
         loaded.impl:close()
      end
      net.impl:close()
   end)

   it('is written before a network was added #devices2', function()
      local empty = torch.deserialize(torch.serialize(nn.DataParallelTable(2)))
      assert.equal(2, empty.dimension)
      empty:add(nn.Linear(2, 2):cuda(), {1, 2})
   end)
end)
