local dpt = require 'dpt'
local xlua, torch = dpt.xlua, dpt.torch

--- What f writes, and what it returns.
local function captured(f, ...)
   local text, write, flush = {}, io.write, io.flush
   io.write = function(...) for _, s in ipairs{...} do text[#text + 1] = tostring(s) end end
   io.flush = function() end
   local results = {pcall(f, ...)}
   io.write, io.flush = write, flush
   assert(results[1], results[2])
   return table.concat(text), unpack(results, 2)
end

describe('xlua', function()
   it('formats times', function()
      assert.equal('0ms', xlua.formatTime(0))
      assert.equal('40ms', xlua.formatTime(0.04))
      assert.equal('3s140ms', xlua.formatTime(3.14))
      assert.equal('1h1m', xlua.formatTime(3661.5))
      assert.equal('2D', xlua.formatTime(2 * 86400))
   end)

   it('draws a progress bar that ends with a new line', function()
      local text = captured(function() for i = 1, 40 do xlua.progress(i, 40) end end)
      assert.truthy(text:find('\r %[>%.+'))
      assert.truthy(text:find(' 20/40 ', 1, true))
      assert.truthy(text:find(' 40/40 ', 1, true))
      assert.truthy(text:find('ETA: ', 1, true))
      assert.equal('\n', text:sub(-1))
      local _, lines = text:gsub('\n', '')
      assert.equal(1, lines)
   end)

   it('begins a new bar after the last', function()
      local text = captured(function()
         for _ = 1, 2 do for i = 1, 3 do xlua.progress(i, 3) end end
      end)
      local _, lines = text:gsub('\n', '')
      assert.equal(2, lines)
   end)

   it('reads settings from the environment', function()
      torch.setenv('DPT_SPEC_RATE', '0.5')
      torch.setenv('DPT_SPEC_FLAG', 'true')
      local params = xlua.envparams{DPT_SPEC_RATE = 1, DPT_SPEC_FLAG = false, DPT_SPEC_NAME = 'x'}
      assert.same({DPT_SPEC_RATE = 0.5, DPT_SPEC_FLAG = true, DPT_SPEC_NAME = 'x'}, params)
      torch.setenv('DPT_SPEC_RATE', 'fast')
      assert.has_error(function() xlua.envparams{DPT_SPEC_RATE = 1} end,
         "xlua.envparams: the variable DPT_SPEC_RATE is 'fast', wanted a number")
      torch.setenv('DPT_SPEC_RATE', nil)
      torch.setenv('DPT_SPEC_FLAG', nil)
   end)
end)
