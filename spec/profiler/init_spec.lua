-- Profiles of steps on several devices: every item once, with its phase, its module and what it
-- waited for.
local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local torch, nn, cutorch, optim, profiler = dpt.torch, dpt.nn, dpt.cutorch, dpt.optim, dpt.profiler
local json = require 'dpt.profiler.json'
local run = require 'spec.support.run'
local ffi, lib = dptffi.ffi, dptffi.lib

local function network()
   local net = nn.Sequential():add(nn.Linear(64, 500)):add(nn.Tanh())
   net:add(nn.Sequential():add(nn.Linear(500, 500)):add(nn.ReLU())):add(nn.Linear(500, 4))
   return net:add(nn.LogSoftMax()):cuda()
end

-- Returns a function that trains a network on two devices for one step, and the network.
local function trainer(threads)
   local many = nn.DataParallelTable(1, true):add(network(), {1, 2})
   if threads then many:threads() end
   local criterion = nn.ClassNLLCriterion():cuda()
   local parameters, gradients = many:getParameters()
   local input = torch.CudaTensor(16, 64):uniform()
   local target = torch.CudaTensor(16):fill(2)
   return function()
      optim.sgd(function()
         many:zeroGradParameters()
         local loss = criterion:forward(many:forward(input), target)
         many:backward(input, criterion:backward(many.output, target))
         return loss, gradients
      end, parameters, {learningRate = 0.1})
   end, many
end

-- Returns the number of the last item queued on stream 0 of a device.
local function queued(device)
   local event = ffi.new 'dpt_event'
   lib.event_record(event, device, 0)
   return tonumber(event.number_)
end

local function select_(events, f)
   local list = {}
   for _, e in ipairs(events) do
      if f(e) then list[#list + 1] = e end
   end
   return list
end

local function isItem(e)
   return e.ph == 'X' and e.args.kind ~= 'span' and e.args.kind ~= 'thread wait'
end

-- Returns the events of one step after warm-up, the numbers of items queued on stream 0 of both
-- devices during it, and the numbers before.
local function profiled(threads, path)
   local step = trainer(threads)
   for _ = 1, 2 do step() end
   cutorch.synchronizeAll()
   local before = {queued(1), queued(2)}
   profiler.start()
   step()
   profiler.stop(path)
   return profiler.events(), {queued(1) - before[1], queued(2) - before[2]}, before
end

describe('dpt.profiler', function()
   for _, threads in ipairs{false, true} do
      it('has every item once that streams got' .. (threads and ' from several threads' or '')
         .. ' #devices2',
         function()
            local events, counts, before = profiled(threads)
            for device = 1, 2 do
               local seen = {}
               for _, e in ipairs(select_(events, isItem)) do
                  if e.pid == device and e.args.stream == 0 then
                     assert.is_nil(seen[e.args.number])
                     seen[e.args.number] = true
                  end
               end
               local n = 0
               for number in pairs(seen) do
                  assert.is_true(number > before[device])
                  n = n + 1
               end
               assert.equal(counts[device], n)
            end
         end)

      it('records the phase and the module of work' .. (threads and ' in threads' or '')
         .. ' #devices2',
         function()
            local events = profiled(threads)
            for device = 1, 2 do
               local found = {}
               for _, e in ipairs(select_(events, isItem)) do
                  if e.pid == device then
                     found[e.cat .. ' ' .. e.args.module .. ' ' .. e.args.class] = true
                  end
               end
               for _, name in ipairs{'forward 1 nn.Linear', 'forward 3.1 nn.Linear',
                  'forward 5 nn.LogSoftMax', 'backward 3.2 nn.ReLU', 'backward 1 nn.Linear'} do
                  assert.is_true(found[name], name .. ' on device ' .. device)
               end
            end
            assert.equal(1, #select_(events, function(e)
               return e.name == 'optimizer' and e.pid == 0 -- the outermost call
            end))
            local phases = {}
            for _, phase in ipairs(profiler.summary().phases) do phases[phase.name] = true end
            for _, name in ipairs{'broadcast', 'scatter', 'forward', 'gather', 'criterion',
               'backward', 'reduce', 'update'} do
               assert.is_true(phases[name], name)
            end
         end)
   end

   it('has items of a stream in turn, each queued before it begins #devices2', function()
      local lanes, emulated = {}, dpt.devices():find 'emulated' ~= nil
      for _, e in ipairs(select_(profiled(), isItem)) do
         local key = e.pid .. ' ' .. e.args.stream
         lanes[key] = lanes[key] or {}
         table.insert(lanes[key], e)
      end
      assert.is_table(lanes['1 0'])
      assert.is_table(lanes['1 -1'])
      for _, lane in pairs(lanes) do
         table.sort(lane, function(a, b) return a.args.number < b.args.number end)
         for i, e in ipairs(lane) do
            assert.is_true(e.dur >= 0)
            assert.is_true(emulated or e.ts >= e.args.queued)
            local last = lane[i - 1]
            -- a device reports time differences as floats in milliseconds
            assert.is_true(not last or e.ts >= last.ts + last.dur - (emulated and 5 or 0.01))
         end
      end
   end)

   it('has correct times of work that still runs when it is stopped', function()
      local a = torch.CudaTensor(1000):fill(0)
      for _ = 1, 10 do
         profiler.start()
         for _ = 1, 200 do a:add(1) end
         profiler.stop()
         local last = 0
         for _, e in ipairs(select_(profiler.events(), isItem)) do
            if e.name == 'add' then
               assert.is_true(e.dur >= 0)
               assert.is_true(e.ts >= last - 5)
               last = e.ts + e.dur
            end
         end
      end
   end)

   it('records what items work on and who waited for what #devices2', function()
      local a, b = torch.CudaTensor(30, 20):fill(1), cutorch.withDevice(2, torch.CudaTensor, 30, 20)
      cutorch.synchronizeAll()
      profiler.start()
      a:add(1)
      b:copy(a)
      assert.equal(2 * 600, b:sum())
      profiler.stop()
      local events = profiler.events()
      local add = select_(events, function(e) return e.name == 'add' end)
      assert.equal(1, #add)
      assert.same({30, 20}, add[1].args.size)
      local copies = select_(events, function(e) return e.args and e.args.kind == 'copy' end)
      assert.equal(1, #copies)
      assert.equal(30 * 20 * 4, copies[1].args.bytes)
      assert.equal(2, copies[1].pid)
      local starts = select_(events, function(e) return e.ph == 's' end)
      local ends = select_(events, function(e) return e.ph == 'f' end)
      assert.equal(#starts, #ends)
      for i, s in ipairs(starts) do assert.equal(s.id, ends[i].id) end
   end)

   it('writes a file with the same records #devices2', function()
      local path = os.tmpname()
      local events = profiled(false, path)
      local file = io.open(path)
      local text = file:read '*a'
      file:close()
      os.remove(path)
      local read = json.decode(text, path)
      assert.equal(#events, #read.traceEvents)
      assert.equal(0, read.otherData.lost)
      local records, lost = profiler.count()
      assert.equal(records, read.otherData.records)
      assert.equal(0, lost)
      for i, e in ipairs(read.traceEvents) do
         assert.equal(events[i].name, e.name)
         assert.equal(events[i].cat, e.cat)
         assert.is_true(e.ph == 'M' or math.abs(events[i].ts - e.ts) < 0.001)
      end
   end)

   -- In a separate process: memory of other tests could be freed during the profile.
   it('reports who holds memory at its peak', function()
      local text = run.lua([[
         local dpt = require 'dpt'
         torch.setdefaulttensortype 'torch.FloatTensor'
         local net = nn.Sequential():add(nn.Linear(10, 500)):add(nn.Identity()):cuda()
         local input = torch.CudaTensor(400, 10):fill(1)
         for _ = 1, 3 do collectgarbage() end
         collectgarbage 'stop'
         local live = cutorch.memoryStats(1).live
         dpt.profiler.start()
         net:forward(input)
         dpt.profiler.stop()
         local device = dpt.profiler.memory()[1]
         assert(device.device == 1 and device.live == cutorch.memoryStats(1).live)
         assert(device.live == live + 800256, device.live - live) -- in grains of 512
         assert(device.peak >= device.live)
         local held = {}
         for _, h in ipairs(device.holders) do held[h.name] = h.bytes end
         assert(held['1 nn.Linear'] >= 800256 and held['(before)'] == live)
         print 'well']], {DPT_DEVICES = os.getenv 'DPT_DEVICES' or 'host:2'})
      assert.equal('well\n', text)
   end)

   it('counts records lost for lack of space', function()
      local a = torch.CudaTensor(10):fill(0)
      profiler.start{records = 5}
      for _ = 1, 20 do a:add(1) end
      profiler.stop()
      local records, lost = profiler.count()
      assert.equal(5, records)
      assert.is_true(lost >= 15) -- includes frees of other tests' memory
      assert.equal(20, a[1])
   end)

   it('restores the classes', function()
      local before = nn.Linear.updateOutput
      profiler.start()
      assert.not_equal(before, nn.Linear.updateOutput)
      profiler.stop()
      assert.equal(before, nn.Linear.updateOutput)
   end)

   it('recovers after an error inside a module', function()
      local net = nn.Sequential():add(nn.Linear(3, 3)):add(nn.Sequential():add(nn.Linear(4, 2)))
      net:cuda()
      local other = nn.Linear(3, 2):cuda()
      profiler.start()
      assert.has_error(function() net:forward(torch.CudaTensor(2, 3):fill(1)) end)
      other:forward(torch.CudaTensor(2, 3):fill(1))
      profiler.stop()
      local paths = {}
      for _, e in ipairs(select_(profiler.events(), isItem)) do paths[e.args.module] = true end
      assert.is_true(paths['1'])
      assert.is_true(paths.net2)
   end)

   it('rejects unsupported calls', function()
      assert.has_error(function() profiler.stop() end, 'profiler: it does not run')
      assert.has_error(function() profiler.start{records = 0} end,
         'profiler: got 0 records, wanted 1 to 2147483647')
      profiler.start()
      assert.is_true(profiler.isRunning())
      assert.has_error(function() profiler.start() end, 'profiler: it runs already')
      assert.has_error(function() profiler.summary() end,
         'profiler.summary: there is no profile: stop it first')
      assert.has_error(function() profiler.stop(7) end,
         "profiler.stop: argument 'path' is a number, wanted a string")
      profiler.stop()
      assert.is_false(profiler.isRunning())
      local ok, why = pcall(profiler.save, '/nowhere/step.json')
      assert.is_false(ok)
      assert.matches('profiler: cannot write /nowhere/step.json: no such file', why, 1, true)
      ok, why = pcall(profiler.save, '/dev/full')
      assert.is_false(ok)
      assert.matches('profiler: cannot write /dev/full: ', why, 1, true)
   end)
end)
