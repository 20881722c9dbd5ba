-- dpt.file.way: the path to a value, for error messages.
local dpt = require 'dpt'
local torch = dpt.torch

local way = require 'dpt.file.way'

describe('dpt.file.way', function()
   it('leads to a value that cannot be written, by keys and upvalues (A10)', function()
      local co = coroutine.create(print)
      local function hook() return co end
      assert.error_matches(function() torch.serialize{model = {list = {1, hook}}} end,
         "type thread at <%?>%.model%.list%.2%.co ")
      assert.error_matches(function() torch.serialize(co) end, 'type thread at <%?> cannot')
      assert.error_matches(function() torch.serialize{a = {print}} end,
         'type function at <%?>%.a%.1')
      assert.error_matches(function() torch.serialize{[co] = 1} end, 'type thread at <%?>%.thread')
      local f = torch.MemoryFile()
      assert.has_error(function() f:writeObject{{{co}}} end)
      assert.error_matches(function() f:writeObject{x = co} end,
         'type thread at <%?>%.x cannot')
      assert.error_matches(function() f:writeObject({co}, 'net') end, 'type thread at net%.1 ')
   end)

   it('skips the fields of objects, whose table has no key of its own', function()
      assert.equal(' at <?>.modules.2', way{root_ = '<?>', depth_ = 3,
         path_ = {false, 'modules', 2}})
      assert.equal(' at net.1.n.x', way{root_ = 'net', depth_ = 5,
         path_ = {1, {{name = 'm'}, {name = 'n'}}, 2, 'value', 'x'}})
   end)
end)
