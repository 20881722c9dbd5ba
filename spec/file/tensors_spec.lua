-- dpt.file.tensors: tensors and storages in files.
local dpt = require 'dpt'
local torch = dpt.torch

local function trip(value, mode) return torch.deserialize(torch.serialize(value, mode), mode) end

local TYPES = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double', 'Cuda',
   'CudaByte', 'CudaLong', 'CudaHalf', 'CudaDouble'}

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

   it('are filled by read with what write has written', function()
      for _, name in ipairs{'Double', 'Cuda', 'Half'} do
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
