local font = require 'image.font'

describe('the font', function()
   it('has every printable character, each another', function()
      local seen = {}
      for code = 33, 126 do
         local list = {}
         for x, y in font.dots(string.char(code)) do
            assert.is_true(x >= 0 and x < 5 and y >= 0 and y < 8)
            list[#list + 1] = x .. ',' .. y
         end
         local dots = table.concat(list, ' ')
         assert.is_nil(seen[dots], string.char(code) .. ' looks like ' .. tostring(seen[dots]))
         assert.is_true(#list > 0)
         seen[dots] = string.char(code)
      end
   end)

   it('draws a blank as nothing and a missing glyph as a box', function()
      assert.is_nil(font.dots ' '())
      local n = 0
      for _ in font.dots '\200' do n = n + 1 end
      assert.equal(20, n)
   end)
end)
