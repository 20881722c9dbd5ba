-- dpt.file.object: trees of values in Torch7's format.
local dpt = require 'dpt'
local torch = dpt.torch

describe('writeObject and readObject', function()
   it('keep references between the objects of one file', function()
      local t = {torch.ones(2)}
      local f = torch.MemoryFile():binary()
      f:writeObject(t)
      t[1]:fill(5)
      f:writeObject(t):writeObject(t[1])
      f:seek(1)
      local a, b, c = f:readObject(), f:readObject(), f:readObject()
      assert.equal(a, b)
      assert.is_true(rawequal(a[1], c))
      assert.equal(1, c[1])
      f = torch.MemoryFile():binary():referenced(false)
      f:writeObject(t[1])
      t[1]:fill(6)
      f:writeObject(t[1]):seek(1)
      assert.equal(5, f:readObject()[1])
      assert.equal(6, f:readObject()[1])
   end)

   it('write the result of a hook, once for an object that occurs twice', function()
      local made, seen = 0, {}
      local twice = {'old'}
      local function hook(value)
         if value ~= nil then seen[torch.type(value)] = true end
         if value == twice then
            made = made + 1
            return {'new', made}
         end
         return value == 4 and {5} or value
      end
      local file = torch.MemoryFile():binary()
      file:writeObject({a = twice, b = {twice}, net = dpt.nn.Identity(), four = 4,
         flag = true}, nil, hook)
      file:writeObject{other = {'old'}, four = 4} -- without a hook
      file:seek(1)
      local read = file:readObject()
      assert.same({'new', 1}, read.a)
      assert.equal(read.a, read.b[1])
      assert.same({5}, read.four)
      assert.same({table = true, string = true, number = true, boolean = true,
         ['nn.Identity'] = true, ['torch.DoubleTensor'] = true}, seen)
      assert.same({other = {'old'}, four = 4}, file:readObject())
   end)

   it('omit fields that cannot be written, with a warning on stderr', function()
      local run = require 'spec.support.run'
      local text = run.lua [[
         require 'dpt'
         local net = nn.Identity()
         net.thread, net.kept = coroutine.create(print), 5
         local back = torch.deserialize(torch.serialize(net))
         print(back.thread, back.kept)
      ]]
      assert.equal('dpt: the field thread of a nn.Identity is a thread and was not written\n'
         .. 'nil\t5\n', text)
   end)
end)
