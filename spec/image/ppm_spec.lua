local dpt = require 'dpt'
local image = require 'image'
local torch = dpt.torch

describe('PPM files', function()
   local function read(text)
      local name = os.tmpname()
      local file = io.open(name, 'wb')
      file:write(text)
      file:close()
      local ok, out = pcall(image.loadPPM, name, nil, 'byte')
      os.remove(name)
      return ok and out:view(-1):totable() or out
   end

   it('have comments between any two numbers of the head', function()
      assert.same({7, 8}, read 'P5 #one\n2 #two\n#three\n1 255\n\7\8')
   end)

   it('with a broken head are errors', function()
      for _, text in ipairs{'P5', 'P5 ', 'P5 2', 'P5 2 x', 'P5 2 1 0\nab', 'P5 0 1 255\n',
         'P5 2 1 70000\nabcd', 'P2 2 1 255\n1', 'P6 1 1 255\nab', 'P5 9999999999 1 255\n'} do
         assert.equal('string', type(read(text)))
      end
   end)

   it('are written and read back unchanged', function()
      local picture = torch.range(1, 12):byte():view(3, 2, 2)
      local name = os.tmpname()
      image.savePPM(name, picture)
      assert.is_true(torch.eq(image.loadPPM(name, 3, 'byte'), picture):all())
      os.remove(name)
   end)
end)
