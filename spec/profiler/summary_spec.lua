-- Time summaries of made-up profiles.
local intervals = require 'dpt.profiler.intervals'
local memory = require 'dpt.profiler.memory'
local summary = require 'dpt.profiler.summary'

-- Returns an item of device `pid` that starts at ts, in microseconds.
local function item(pid, cat, ts, dur, path, class, kind)
   return {ph = 'X', pid = pid, cat = cat, ts = ts, dur = dur, tid = 0,
      args = {kind = kind or 'kernel', module = path or '', class = class or ''}}
end

describe('Sets of times', function()
   it('are joined, measured and compared', function()
      local a = intervals.union{{ts = 5, dur = 2}, {ts = 0, dur = 3}, {ts = 2, dur = 2}}
      assert.same({0, 4, 5, 7}, a)
      assert.equal(6, intervals.length(a))
      assert.equal(0, intervals.length(intervals.union{}))
      assert.equal(3, intervals.common(a, {1, 2, 3, 6}))
      assert.equal(0, intervals.common(a, {4, 5}))
   end)
end)

describe('The summary', function()
   local events = {
      item(1, 'forward', 0, 1000, '1', 'nn.A'), item(1, 'forward', 1000, 2000, '2.1', 'nn.B'),
      item(1, 'wait', 3000, 1000), item(1, 'backward', 4000, 4000, '2.1', 'nn.B'),
      item(1, 'backward', 8000, 100, '2', 'nn.S'),
      item(2, 'forward', 0, 500, '1', 'nn.A'), item(2, 'reduce', 7000, 2000, '2', 'nn.S'),
      {ph = 'i', pid = 1, args = {kind = 'memory'}}, {ph = 'M', pid = 1, args = {}},
   }
   local s = summary(events)

   it('has the time of phases and how much of communication was hidden', function()
      local phases = {}
      for _, p in ipairs(s.phases) do phases[p.name] = p end
      assert.equal(3.5, phases.forward.ms)
      assert.equal(3, phases.forward.items)
      assert.equal(4.1, phases.backward.ms)
      assert.equal(2, phases.reduce.elapsed)
      assert.is_true(math.abs(phases.reduce.hidden - 1.1) < 1e-9)
      assert.is_nil(phases.wait)
      assert.equal(9, s.elapsed)
      assert.equal(2, s.communication.elapsed)
   end)

   it('has the idle time of devices', function()
      assert.equal(1, s.devices[1].device)
      assert.is_true(math.abs(s.devices[1].busy - 7.1) < 1e-9)
      assert.is_true(math.abs(s.devices[1].idle - 1.9) < 1e-9)
      assert.equal(2.5, s.devices[2].busy)
   end)

   it("has modules' own time, and with those inside", function()
      local modules = {}
      for _, m in ipairs(s.modules) do modules[m.path] = m end
      assert.equal('2.1', s.modules[1].path)
      assert.equal(6, modules['2.1'].own)
      assert.equal(2, modules['2.1'].forward)
      assert.equal(4, modules['2.1'].backward)
      assert.is_true(math.abs(modules['2'].own - 2.1) < 1e-9)
      assert.is_true(math.abs(modules['2'].total - 8.1) < 1e-9)
      assert.equal(1.5, modules['1'].total)
   end)

   it('is a text, also for an empty profile', function()
      assert.matches('2.1 +nn.B +6.000', tostring(s))
      assert.matches('reduce +1 +2.000 +20.8 %% +55.0 %%', tostring(s))
      assert.matches('0.000 ms from the first item to the last', tostring(summary{}))
   end)
end)

describe('The memory of a profile', function()
   local function take(ts, block, bytes, live, path)
      return {ph = 'i', pid = 1, ts = ts, args = {kind = 'memory', block = block, bytes = bytes,
         live = live, module = path, class = path ~= '' and 'nn.A' or '', phase = 'forward'}}
   end
   local m = memory{take(0, 'a', 100, 1100, '1'), take(1, 'b', 50, 1150, '2'),
      take(2, 'a', -100, 1050, ''), take(3, 'old', -1000, 50, ''), take(4, 'c', 10, 60, '')}

   it('has the peak and who held it', function()
      assert.equal(1150, m[1].peak)
      assert.equal(1, m[1].at)
      assert.same({{name = '(before)', bytes = 1000}, {name = '1 nn.A', bytes = 100},
         {name = '2 nn.A', bytes = 50}}, m[1].holders)
      assert.equal(60, m[1].live)
      assert.equal(5, #m[1].course)
   end)

   it('is a text', function()
      assert.matches('device 1: 60 bytes live at the end, at most 1150', tostring(m), 1, true)
      assert.matches('1000  %(before%)', tostring(m))
   end)
end)
