-- dpt.file.tensors: tensors and storages in files.
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch = dpt.torch

local function trip(value, mode) return torch.deserialize(torch.serialize(value, mode), mode) end

local TYPES = elements.everywhere

describe('Tensors in files', function()
   for _, mode in ipairs{'binary', 'ascii'} do
      it('keep their type, views and sharing in mode ' .. mode, function()
         for _, name in ipairs(TYPES) do
            local x = torch.range(1, 12):resize(3, 4):type('torch.' .. name .. 'Tensor')
            local u = trip({x, x:t(), x:narrow(2, 2, 2), x, x:storage()}, mode)
            assert.equal('torch.' .. name .. 'Tensor', torch.type(u[1]))
            assert.equal(u[1], u[4])
            assert.equal(0, (u[2]:double() - x:t():double()):abs():max())
            u[5]:fill(3)
            assert.equal(12 * 3, u[2]:double():sum())
            assert.equal(6 * 3, u[3]:double():sum())
         end
      end)
   end

   it('keep their sizes without elements, with a storage and without', function()
      local path = os.tmpname()
      for _, mode in ipairs{'binary', 'ascii', 'b32', 'b64'} do
         for _, name in ipairs(TYPES) do
            local new = torch[name .. 'Tensor']
            for _, x in ipairs{new(0, 10), new(2, 0, 3):transpose(1, 3), new(5):zero():resize(0, 7),
               new(3, 4):zero():narrow(2, 2, 2):resize(2, 0), new()} do
               torch.save(path, x, mode)
               for _, y in ipairs{trip({x}, mode)[1], torch.load(path, mode)} do
                  assert.equal(x:type(), y:type())
                  assert.same(x:size():totable(), y:size():totable())
                  assert.same(x:stride():totable(), y:stride():totable())
                  assert.equal(x:storage() == nil, y:storage() == nil)
               end
            end
         end
      end
      os.remove(path)
      -- the fields of Torch7: sizes, strides, offset, no storage
      assert.equal('4\n1\n3\nV 1\n17\ntorch.FloatTensor\n2\n0 3\n3 1\n1\n0\n',
         torch.serialize(torch.FloatTensor(0, 3), 'ascii'))
   end)

   it("are restored by read from write's data", function()
      for _, name in ipairs(TYPES) do
         local x = torch.randn(3, 4):type('torch.' .. name .. 'Tensor'):t()
         local f = torch.MemoryFile():binary()
         x:write(f)
         x:storage():write(f)
         f:seek(1)
         local y, s = torch[name .. 'Tensor'](2), torch[name .. 'Storage'](2)
         assert.equal(y, y:read(f))
         assert.equal(s, s:read(f))
         assert.equal(0, (y:double() - x:double()):abs():max())
         assert.same({4, 3}, y:size():totable())
         assert.equal(12, s:size())
      end
   end)
end)
