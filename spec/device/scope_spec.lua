-- The activity of a thread: phases nest, and cost nothing while no profile is recorded.
local dpt = require 'dpt'
local scope = require 'dpt.device.scope'
local dptffi = require 'dpt.ffi'
local C, ffi = dptffi.C, dptffi.ffi

-- Returns the label that new records get.
local function label() return ffi.string(C.dpt_trace_label_text(C.dpt_trace_label()[0])) end

describe('A scope', function()
   it('calls its function and returns its results', function()
      assert.same({1, nil, 3}, {scope.call('update', function(...) return ... end, 1, nil, 3)})
   end)

   it('labels work that is queued in it, the innermost scope first, until it ends', function()
      dpt.profiler.start()
      finally(function() dpt.profiler.stop() end)
      local inner, after
      scope.call('update', function()
         scope.call('scatter', function() inner = label() end)
         after = label()
      end)
      assert.equal('scatter\t\t', inner)
      assert.equal('update\t\t', after)
      assert.equal('\t\t', label())
   end)

   it('ends with an error, which passes as it is', function()
      dpt.profiler.start()
      finally(function() dpt.profiler.stop() end)
      local why = {}
      local ok, got = pcall(scope.call, 'update', error, why)
      assert.is_false(ok)
      assert.equal(why, got)
      assert.equal('\t\t', label())
   end)
end)
