-- Pages of docs whose blocks of Lua are programs whose assertions hold.
local dpt = require 'dpt'
local read = require 'spec.support.read'

-- More blocks than so many are on each.
local pages = {['docs/start.md'] = 2, ['docs/from-pytorch.md'] = 2, ['docs/porting.md'] = 5,
   ['docs/image.md'] = 5}

for page, least in pairs(pages) do
   describe(page, function()
      local text, count, before = read(page), 0, dpt.torch.getdefaulttensortype()
      after_each(function() dpt.torch.setdefaulttensortype(before) end)
      for block in text:gmatch '```lua\n(.-)```' do
         count = count + 1
         it(('is right in its block %d #devices2'):format(count), function()
            assert(loadstring(block, '=block'))()
         end)
      end
      it('has blocks', function() assert.is_true(count > least) end)
   end)
end
