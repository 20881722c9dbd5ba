-- docs/start.md and docs/from-pytorch.md: their blocks of Lua are programs whose assertions hold.
local dpt = require 'dpt'
local read = require 'spec.support.read'

for _, page in ipairs{'docs/start.md', 'docs/from-pytorch.md'} do
   describe(page, function()
      local text, count, before = read(page), 0, dpt.torch.getdefaulttensortype()
      after_each(function() dpt.torch.setdefaulttensortype(before) end)
      for block in text:gmatch '```lua\n(.-)```' do
         count = count + 1
         it(('is right in its block %d #devices2'):format(count), function()
            assert(loadstring(block, '=block'))()
         end)
      end
      it('has blocks', function() assert.is_true(count > 2) end)
   end)
end
