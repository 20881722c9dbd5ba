-- dpt.clone: deep copies of trees of values.
local elements = require 'spec.support.elements'
local torch = require 'dpt.tensor'
local clone = require 'dpt.clone'

describe('dpt.clone', function()
   it('copies tables and leaves the original alone', function()
      local t = {1, 'a', {x = true}}
      local u = clone(t)
      assert.same(t, u)
      u[3].x = false
      assert.is_true(t[3].x)
   end)

   it('preserves shared references and cycles', function()
      local shared = {}
      local t = {shared, shared}
      t.me = t
      local u = clone(t)
      assert.equal(u[1], u[2])
      assert.are_not.equal(shared, u[1])
      assert.equal(u, u.me)
   end)

   it('preserves views of one storage', function()
      local x = torch.range(1, 12):resize(3, 4)
      local u = clone{x, x:t(), x:narrow(2, 2, 2), x:select(1, 2), x}
      assert.equal(u[1], u[5])
      u[1]:fill(5)
      assert.equal(5, u[2][4][1])
      assert.equal(30, u[3]:sum())
      assert.same(x:narrow(2, 2, 2):stride():totable(), u[3]:stride():totable())
      assert.equal(x:narrow(2, 2, 2):storageOffset(), u[3]:storageOffset())
      assert.equal(78, x:sum())
   end)

   it('copies storages once, empty tensors, and tensors of every kind', function()
      local s = torch.FloatStorage{1, 2}
      local u = clone{s, s, torch.FloatTensor(s), torch.FloatTensor()}
      assert.is_true(u[1] == u[2] and u[3]:storage() == u[1])
      assert.is_false(u[1] == s)
      assert.equal(0, u[4]:dim())
      for _, empty in ipairs{torch.Tensor(0, 10), torch.Tensor(2, 0, 3):transpose(1, 3),
         torch.CudaTensor(4, 0), torch.Tensor(8):resize(0, 7)} do
         local copy = clone{empty}[1]
         assert.same(empty:size():totable(), copy:size():totable())
         assert.same(empty:stride():totable(), copy:stride():totable())
      end
      for _, name in ipairs(elements.everywhere) do
         local x = torch[name .. 'Tensor'](3):fill(2)
         local y = clone(x)
         assert.equal(x:type(), y:type())
         x:fill(1)
         assert.equal(6, y:double():sum())
      end
   end)

   it('preserves the classes of objects, and functions', function()
      local m = {}
      torch.class('cloneSpec.Object', m)
      local o = m.Object()
      o.f, o.t = print, torch.ones(2)
      local u = clone(o)
      assert.equal('cloneSpec.Object', torch.typename(u))
      assert.equal(print, u.f)
      assert.are_not.equal(o.t, u.t)
   end)

   it("passes the class's version to its own read, as a file does", function()
      local m = {}
      local Versioned = torch.class('cloneSpec.Versioned', m)
      Versioned.__version = 3
      function Versioned:write(file) file:writeObject(self.value) end
      function Versioned:read(file, version)
         self.value = file:readObject()
         self.seen = version
      end
      local o = m.Versioned()
      o.value = 7
      assert.same({7, 3}, {clone(o).value, clone(o).seen})
   end)
end)
