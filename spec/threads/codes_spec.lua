-- dpt.threads.codes: the numbers shared by writer and reader.
local codes = require 'dpt.threads.codes'

describe('dpt.threads.codes', function()
   it('has one number for each name, from 1 without gaps', function()
      assert.equal(14, #codes)
      local count = 0
      for key, value in pairs(codes) do
         if type(key) == 'string' then
            count = count + 1
            assert.equal(key, codes[value])
         end
      end
      assert.equal(#codes, count)
   end)
end)
