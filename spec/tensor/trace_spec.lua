-- Hot paths must be traceable by LuaJIT's compiler: a loop over them compiles without an abort that
-- names something not yet implemented.
local torch = require 'dpt.tensor'

local a, b = torch.FloatTensor(16):fill(1), torch.FloatTensor(16):fill(2)
local c = torch.FloatTensor(4, 4)
local s = torch.LongStorage{4, 4}

local paths = {
   ['add a scaled tensor'] = function() a:add(1e-9, b) end,
   ['add a number'] = function() a:add(1e-9) end,
   ['torch.add with a result'] = function() torch.add(a, b, 1) end,
   ['multiply'] = function() a:mul(1):cmul(b):fill(1) end,
   ['a function'] = function() a:exp():fill(1) end,
   ['an addition that makes a tensor'] = function() return torch.add(a, b) end,
   ['a comparison'] = function() return a:gt(0) end,
   ['an operator'] = function() return a + b end,
   ['an element'] = function() return a[3] end,
   ['an assignment'] = function() a[3] = 1 end,
   ['a row'] = function() return c[2] end,
   ['narrow and select'] = function() return c:narrow(1, 2, 2), c:select(2, 1) end,
   ['transpose'] = function() return c:t() end,
   ['view'] = function() return c:view(16) end,
   ['view by LongStorage'] = function() return a:view(s) end,
   ['resize'] = function() a:resize(16) end,
   ['size'] = function() return c:size(1), c:dim(), c:nElement() end,
   ['a tensor of a size'] = function() return torch.FloatTensor(4) end,
   ['a sum'] = function() return a:sum() end,
   ['a copy'] = function() a:copy(b) end,
   ['set'] = function() a:set(b) a:set(torch.FloatTensor(16):fill(1)) end,
}

describe('The trace of', function()
   for name, f in pairs(paths) do
      it(name .. ' compiles', function()
         local vmdef = require 'jit.vmdef'
         local aborts, stops = {}, 0
         local function listen(what, _, _, _, code, reason)
            if what == 'stop' then stops = stops + 1 end
            if what == 'abort' then
               local text = type(reason) == 'number' and vmdef.traceerr[code] or tostring(code)
               if type(code) == 'number' then text = vmdef.traceerr[code] end
               -- a return to a lower frame only ends a trace that began inside the function
               if text:find 'NYI' and not text:find 'lower frame' then
                  aborts[#aborts + 1] = text .. ' ' .. tostring(reason)
               end
            end
         end
         jit.flush()
         jit.attach(listen, 'trace')
         for _ = 1, 300 do f() end
         jit.attach(listen)
         assert.same({}, aborts)
         assert.is_true(stops > 0)
      end)
   end
end)
