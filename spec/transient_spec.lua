--- dpt.transient: fields that copies, files, other Lua states, type() and clearState() omit.
local dpt = require 'dpt'
local Pool = require 'dpt.threads.pool'
local same = require 'spec.support.parallel'
local transient = require 'dpt.transient'
local torch, nn, cutorch = require 'torch', require 'nn', dpt.cutorch

-- Defines a script's classes, here and in a worker.
local function define()
   if nn.SpecKeeping then return end
   local Keeping = torch.class('nn.SpecKeeping', 'nn.Module')
   Keeping.transient = {'cache', 'calls'}
   function Keeping:resetTransient() self.calls = 0 end
   torch.class('nn.SpecKeepingMore', 'nn.SpecKeeping').transient = {'more'}
   local Writing = torch.class('nn.SpecWriting', 'nn.SpecKeeping')
   function Writing:write(file) file:writeObject{cache = self.cache, calls = self.calls} end
   function Writing:read(file) for k, v in pairs(file:readObject()) do self[k] = v end end
   local Loss = torch.class('nn.SpecKeepingLoss', 'nn.Criterion')
   Loss.transient = {'cache'}
end

describe('Transient fields', function()
   local pool

   setup(function()
      define()
      pool = Pool.new(1, {define})
   end)
   teardown(function() pool:close() end)

   -- All ways to copy a value.
   local ways = {
      clone = function(object) return object:clone() end,
      file = function(object) return torch.deserialize(torch.serialize(object)) end,
      worker = function(object)
         local job = pool:send(1, function(o)
            assert(rawget(o, 'cache') == nil)
            return o
         end, object)
         return assert(pool:receive(job))[1]
      end,
   }

   local function used(class)
      local module = nn[class]()
      module.cache, module.calls, module.more, module.kept = torch.ones(3), 7, {1}, 'kept'
      return module
   end

   for name, copy in pairs(ways) do
      it('are not in a copy, by ' .. name .. ', and are those of a new object', function()
         local module = used 'SpecKeepingMore'
         local net = copy(nn.Sequential():add(module)):get(1)
         assert.same({nil, 0, nil, 'kept'}, {net.cache, net.calls, net.more, net.kept})
         assert.equal(7, module.calls)
         assert.equal(3, module.cache:sum())
         local parent = copy(used 'SpecKeeping')
         assert.same({nil, 0, {1}}, {parent.cache, parent.calls, parent.more})
         assert.is_nil(copy(used 'SpecKeepingLoss').cache)
      end)
   end

   it('are dropped by type and clearState', function()
      local module = used 'SpecKeepingMore'
      assert.equal(module, module:float())
      assert.same({nil, 0, nil, 'kept'}, {module.cache, module.calls, module.more, module.kept})
      module = used 'SpecKeepingMore'
      assert.equal('torch.DoubleTensor', module:type())
      assert.equal(7, module.calls)
      assert.equal(module, module:clearState())
      assert.same({nil, 0, nil, 'kept'}, {module.cache, module.calls, module.more, module.kept})
      assert.is_nil(used('SpecKeepingLoss'):float().cache)
   end)

   it('are in the files of a class that writes and reads itself', function()
      local copy = torch.deserialize(torch.serialize(used 'SpecWriting'))
      assert.equal(3, copy.cache:sum())
      assert.equal(7, copy.calls)
   end)

   it('must be a list of names', function()
      for _, wrong in ipairs{'cache', {1}, {a = 'b'}, 3} do
         local class = torch.class('nn.SpecWrong' .. tostring(wrong):gsub('%W', ''), 'nn.Module')
         assert.error_matches(function() class.transient = wrong end,
            "transient of class 'nn.SpecWrong%w+' wants a list of names of fields, got ")
      end
   end)

   it('of values without a class are none', function()
      for _, value in ipairs{1, {}, torch.ones(1), nn.Linear, setmetatable({}, {})} do
         assert.is_nil(next(transient.fieldsOf(value)))
      end
   end)
end)

describe('Transient fields of dpt\'s classes', function()
   local function rnn(x)
      local net = nn.RNN('CUDNN_LSTM', 3, 4)
      net:forward(x)
      net:backward(x, net.output)
      return net
   end
   local function sequencer(x)
      local net = nn.Sequencer(nn.LSTM(3, 4))
      net:forward(x)
      net:backward(x, net.output)
      return net
   end
   local function gpu(x)
      local net = nn.GPU(nn.Linear(3, 4):cuda(), 2, 1)
      net:forward(x[1]:cuda())
      net:backward(x[1]:cuda(), net.output)
      return net
   end
   local function table_(x)
      local net = nn.DataParallelTable(1, true):add(nn.Linear(3, 4):cuda(), {1, 2})
      net:forward(x[1]:cuda())
      net:backward(x[1]:cuda(), net.output)
      return net
   end
   local function criterion(x)
      local loss = nn.DataParallelCriterion(nn.MSECriterion():cuda())
      loss:forward(x[1]:cuda(), x[2]:cuda())
      loss:backward(x[1]:cuda(), x[2]:cuda())
      return loss
   end

   -- Returns the names of an object's fields in a file: those of the first table of fields in it.
   local function written(object)
      local fields, file = nil, torch.MemoryFile()
      local write = file.writeObject
      file.writeObject = function(self, value)
         if not fields and torch.type(value) == 'table' and value._type then
            fields = {}
            for k in pairs(value) do fields[k] = true end
         end
         return write(self, value)
      end
      file:writeObject(object)
      return fields
   end

   for name, case in pairs{
      ['nn.RNN'] = {rnn}, ['nn.GPU'] = {gpu}, ['nn.DataParallelCriterion'] = {criterion},
      ['nn.DataParallelTable'] = {table_, {'inputGpu', 'gradOutputGpu', 'outputGpu', 'gradInputGpu',
         'flattenedParams'}}, -- cunn's code reads these
      ['nn.Sequencer'] = {sequencer},
      ['nn.LSTM'] = {function(x) return sequencer(x):get(1) end},
   } do
      it('are in no file: ' .. name, function()
         if cutorch.getDeviceCount() < 2 then return pending('needs 2 devices') end
         cutorch.setDevice(1)
         local object = case[1](torch.randn(5, 2, 3))
         local names = transient.fieldsOf(object)
         for _, name_ in ipairs(case[2] or {}) do names[name_] = nil end
         local fields, met = written(object), 0
         for field in pairs(names) do
            assert.is_nil(fields[field], field)
            if rawget(object, field) ~= nil then met = met + 1 end
         end
         assert.is_true(met > 1)
      end)
   end

   it('exclude the state from which a recurrent module continues', function()
      local x = torch.randn(6, 2, 3)
      local function steps(net, from, to)
         local y
         for t = from, to do y = net:forward(x[t]) end
         return y
      end
      for _, make in ipairs{
         function() return nn.LSTM(3, 4) end,
         function() return nn.Recurrent(4, nn.Linear(3, 4), nn.Linear(4, 4)) end,
         function() return nn.Sequencer(nn.LSTM(3, 4)):remember():forget() end,
      } do
         local net = make()
         local whole = torch.isTypeOf(net, 'nn.Sequencer')
         local run = whole and function(m, from, to)
            return m:forward(x:narrow(1, from, to - from + 1))[to - from + 1]
         end or steps
         for _, mode in ipairs{'training', 'evaluate'} do
            net[mode](net)
            run(net, 1, 3)
            local copies = {net:clone(), torch.deserialize(torch.serialize(net)),
               net:clone():float():double()}
            local expected = run(net, 4, 6)
            same.bits(expected, run(copies[1], 4, 6))
            same.bits(expected, run(copies[2], 4, 6))
            same.close(expected, run(copies[3], 4, 6), 1e-6)
            if not whole then
               local gradient = torch.ones(2, 4)
               local copy = net:clone()
               assert.error_matches(function() copy:backward(x[6], gradient) end, 'more often')
            end
            net:clearState()
            local fresh = run(net, 4, 6)
            assert.is_true((expected - fresh):abs():max() > 1e-4)
         end
      end
   end)

   it('allow a module to refer back to its network, which is copied once', function()
      local net = nn.DataParallelTable(1):add(nn.Linear(3, 4):cuda(), {1})
      net:get(1).owner = net
      local copy = net:clone()
      assert.equal(copy, copy:get(1).owner)
   end)

   it('allow a module that refers back to its network to be copied and read, also in threads',
      function()
      if cutorch.getDeviceCount() < 2 then return pending('needs 2 devices') end
      for field in ('owner a b parent top train_ x1 x2'):gmatch '%S+' do -- in any traversal order
         local net = nn.DataParallelTable(1)
            :add(nn.Sequential():add(nn.Linear(3, 4)):cuda(), {1, 2})
         local module = net:get(1)
         module[field] = net
         if #field % 2 == 1 then net:threads() end
         net:forward(torch.ones(3, 3):cuda())
         for _, copy in ipairs{module:clone(), torch.deserialize(torch.serialize(module))} do
            assert.equal(copy, copy[field]:get(1))
         end
      end
   end)
end)
