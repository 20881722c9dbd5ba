-- Hot paths must be traceable by LuaJIT's compiler: a loop over them compiles without aborts for
-- instructions not yet implemented. They are compiled in a fresh process, because LuaJIT blacklists
-- a function after several aborts, and wrong calls in other specs may cause these.
local run = require 'spec.support.run'

local program = [[
   require 'dpt'
   local vmdef = require 'jit.vmdef'

   local a, b = torch.FloatTensor(16):fill(1), torch.FloatTensor(16):fill(2)
   local c = torch.FloatTensor(4, 4)
   local s = torch.LongStorage{4, 4}

   local paths = {
      {'add a scaled tensor', function() a:add(1e-9, b) end},
      {'add a number', function() a:add(1e-9) end},
      {'torch.add with a result', function() torch.add(a, b, 1) end},
      {'multiply', function() a:mul(1):cmul(b):fill(1) end},
      {'a function', function() a:exp():fill(1) end},
      {'an addition that makes a tensor', function() return torch.add(a, b) end},
      {'a comparison', function() return a:gt(0) end},
      {'an operator', function() return a + b end},
      {'an element', function() return a[3] end},
      {'an assignment', function() a[3] = 1 end},
      {'a row', function() return c[2] end},
      {'narrow and select', function() return c:narrow(1, 2, 2), c:select(2, 1) end},
      {'transpose', function() return c:t() end},
      {'view', function() return c:view(16) end},
      {'view by LongStorage', function() return a:view(s) end},
      {'resize', function() a:resize(16) end},
      {'size', function() return c:size(1), c:dim(), c:nElement() end},
      {'a tensor of a size', function() return torch.FloatTensor(4) end},
      {'a sum', function() return a:sum() end},
      {'a copy', function() a:copy(b) end},
      {'set', function() a:set(b) a:set(torch.FloatTensor(16):fill(1)) end},
   }

   for _, path in ipairs(paths) do
      local name, f = unpack(path)
      local unsupported, stops = {}, 0
      local function listen(what, _, _, _, code, reason)
         if what == 'stop' then stops = stops + 1 end
         if what == 'abort' then
            local text = type(code) == 'number' and vmdef.traceerr[code] or tostring(code)
            -- a return to a lower frame only ends a trace that began inside the function
            if text:find 'NYI' and not text:find 'lower frame' then
               unsupported[#unsupported + 1] = text .. ' ' .. tostring(reason)
            end
         end
      end
      jit.flush()
      jit.attach(listen, 'trace')
      for _ = 1, 1000 do f() end
      jit.attach(listen)
      table.insert(unsupported, 1, stops > 0 and 'compiled' or 'not compiled')
      print(name .. ': ' .. table.concat(unsupported, ', '))
   end
]]

describe('The trace of', function()
   local printed = run.lua(program)
   local number = 0
   for name in program:gmatch "\n      {'([^']+)', function" do
      number = number + 1
      it(name .. ' compiles', function()
         assert.equal('compiled', printed:match('%f[^\n%z]' .. name .. ': ([^\n]*)'), printed)
      end)
   end
   assert(number == 21)
end)
