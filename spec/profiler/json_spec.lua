-- JSON: encoding and decoding.
local json = require 'dpt.profiler.json'

describe('JSON', function()
   it('is decoded unchanged', function()
      local value = {list = {1, 2.5, -3, {}}, text = 'a "b"\\ \n\t\1 é', yes = true, no = false}
      assert.same(value, json.decode(json.encode(value), 'it'))
   end)

   it('has the keys of a table in order', function()
      assert.equal('{"a":1,"b":[0.125],"c":"x"}', json.encode{c = 'x', a = 1, b = {0.125}})
   end)

   it('has null for unsupported numbers, and ? for bytes that are not UTF-8', function()
      assert.equal('[null,null,"?"]', json.encode{0 / 0, math.huge, '\255'})
   end)

   it('is read with all that others write', function()
      assert.same({a = {1e3, -0.5}, b = 'é/\b'}, json.decode(
         ' { "a" : [ 1e3 , -0.5 ] , "b" : "\\u00e9\\/\\b" , "c" : null } ', 'it'))
   end)

   it('that is invalid raises with the position', function()
      for _, text in ipairs{'', '{', '[1,]', '{"a":}', '{"a" 1}', '[1] 2', '"a', 'nil', '{a:1}'} do
         local ok, why = pcall(json.decode, text, 'step.json')
         assert.is_false(ok, text)
         assert.matches('step.json: wanted JSON', why, 1, true)
      end
   end)
end)
