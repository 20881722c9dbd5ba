-- The garbage collector at its most aggressive must not free anything in use: pointers and array
-- fields taken from temporary objects do not keep them alive.
local torch = require 'dpt.tensor'

--- Runs f with a full collection after every instruction, then many times compiled, with a
-- collector that never pauses.
local function eagerly(f)
   debug.sethook(function() collectgarbage() end, '', 1)
   local ok, why = pcall(f)
   debug.sethook()
   if not ok then error(why, 0) end
   local pause, step = collectgarbage('setpause', 0), collectgarbage('setstepmul', 5000)
   ok, why = pcall(function()
      for _ = 1, 200 do f() end
   end)
   collectgarbage('setpause', pause)
   collectgarbage('setstepmul', step)
   if not ok then error(why, 0) end
end

local x = torch.FloatTensor(3, 4):fill(2)

--- By name: a function that uses temporary objects; it returns the result and the expected one.
local cases = {
   ['sizes of a temporary view'] = function()
      return table.concat(x:narrow(1, 1, 2):size():totable(), 'x')
         .. ' ' .. table.concat(x:t():stride():totable(), 'x'), '2x4 1x4'
   end,
   ['a view by a temporary LongStorage'] = function()
      return x:view(torch.LongStorage{4, 3}):size(2), 3
   end,
   ['expandAs and viewAs a temporary'] = function()
      return torch.FloatTensor(1, 4):expandAs(torch.FloatTensor(3, 4)):size(1)
         + x:viewAs(torch.FloatTensor(2, 6)):size(2), 9
   end,
   ['a tensor over a temporary storage'] = function()
      return torch.FloatTensor(torch.FloatStorage{1, 2, 3, 4}):sum(), 10
   end,
   ['a table of a temporary'] = function()
      return #x:double():totable()[3] + x:clone():totable()[3][4], 6
   end,
   ['a storage view of a temporary'] = function()
      return torch.LongStorage(torch.LongStorage{5, 6, 7}, 2)[2], 7
   end,
   ['a join of temporaries'] = function()
      return torch.cat({x:clone(), x:t():clone():t(), x:clone()}, 1):sum(), 72
   end,
   ['map with temporaries'] = function()
      return x:clone():map2(x:double():float(), x:clone(), function(a, b, c)
         return a + b * c
      end):sum(), 72
   end,
   ['the text of a temporary'] = function()
      return tostring(x:narrow(1, 1, 1):clone()), ' 2  2  2  2\n[torch.FloatTensor of size 1x4]\n'
   end,
   ['a table into a tensor'] = function() return torch.ByteTensor{{1, 2}, {3, 4}}:sum(), 10 end,
   ['elements of a temporary'] = function() x:clone()[2][3] = 5 return x:clone()[2][3], 2 end,
}

describe('An eager collector', function()
   for name, f in pairs(cases) do
      it('leaves alone ' .. name, function()
         eagerly(function()
            local got, want = f()
            if got ~= want then error(('got %s, wanted %s'):format(got, want)) end
         end)
      end)
   end
end)
