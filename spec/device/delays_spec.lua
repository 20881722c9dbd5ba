-- DPT_DELAY on devices with native streams: kernels run late, and nothing else changes.
local run = require 'spec.support.run'

local code = [[
   local ffi = require 'ffi'
   ffi.cdef 'long long emulated_launches(void);'
   dofile 'spec/support/delays.lua'
   local maps = assert(io.open '/proc/self/maps'):read '*a'
   local lib = ffi.load(maps:match '/%S*libdpt_emulated%S*')
   print('launches', tonumber(lib.emulated_launches()))
]]

describe('Delays on the device #hostonly', function()
   it('are kernels before half of the items, and change no bit of a result', function()
      local plain = run.lua(code, {DPT_DEVICES = 'emulated:2'})
      local late = run.lua(code, {DPT_DEVICES = 'emulated:2', DPT_DELAY = '3'})
      local results, launches = plain:match '^(.*graph\t%x+\n)launches\t(%d+)\n$'
      local lateResults, lateLaunches = late:match '^(.*graph\t%x+\n)launches\t(%d+)\n$'
      assert.equal(results, lateResults)
      assert.truthy(results, plain)
      local ratio = lateLaunches / launches
      assert.is_true(ratio > 1.3 and ratio < 1.7, ratio)
   end)
end)
