-- Lua values serialized to bytes.
local values = require 'dpt.distributed.values'

describe('dpt.distributed.values', function()
   it('returns its argument', function()
      local function through(value) return values.value(values.bytes(value)) end
      assert.is_nil(through(nil))
      assert.equal(false, through(false))
      assert.equal('a\0b', through 'a\0b')
      assert.same({1, {x = 'y'}}, through{1, {x = 'y'}})
      assert.same({{1, 2}, {3, 4}}, through(torch.LongTensor{{1, 2}, {3, 4}}):totable())
   end)

   it('reads a part of a longer tensor', function()
      local bytes = values.bytes 'word'
      local longer = torch.ByteTensor(bytes:nElement() + 9)
      longer:narrow(1, 5, bytes:nElement()):copy(bytes)
      assert.equal('word', values.value(longer:narrow(1, 5, bytes:nElement())))
   end)
end)
