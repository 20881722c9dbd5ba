-- A parameter sync copies bytes only if replica 1 has been written to: the write count of each
-- storage must include every kind of write, and should not include reads.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local dptffi = require 'dpt.ffi'

local function writes(t) return tonumber(dptffi.C.dpt_storage_writes(t.storage_)) end

describe("dpt.comm.version, a storage's count of writes,", function()
   local t, other, index, mask

   before_each(function()
      cutorch.setDevice(1)
      t = torch.CudaTensor(4, 4):fill(0.5)
      other = torch.CudaTensor(4, 4):fill(0.25)
      index = torch.CudaLongTensor(2):fill(2)
      mask = t:gt(9)
   end)

   local changes = {
      fill = function() t:fill(1) end,
      zero = function() t:zero() end,
      ['fill of a part'] = function() t:narrow(1, 2, 1):fill(1) end,
      ['copy on the device'] = function() t:copy(other) end,
      ['copy of the transpose'] = function() t:copy(other:t()) end,
      ['copy of another type'] = function() t:copy(other:type('torch.CudaDoubleTensor')) end,
      ['copy from the host'] = function() t:copy(torch.FloatTensor(4, 4):fill(1)) end,
      ['copy of another type from the host'] = function()
         t:copy(torch.DoubleTensor(4, 4):fill(1))
      end,
      ['strided copy from the host'] = function() t:t():copy(torch.FloatTensor(4, 4):fill(1)) end,
      ['copy from another device'] = function()
         if cutorch.getDeviceCount() < 2 then return t:fill(1) end
         t:copy(cutorch.withDevice(2, function() return torch.CudaTensor(4, 4):fill(1) end))
      end,
      ['strided copy from another device'] = function()
         if cutorch.getDeviceCount() < 2 then return t:fill(1) end
         t:t():copy(cutorch.withDevice(2, function() return torch.CudaTensor(4, 4):fill(1) end))
      end,
      ['an element'] = function() t[2][3] = 7 end,
      ['a row'] = function() t[2] = 7 end,
      ['an element of the storage'] = function() t:storage()[3] = 7 end,
      ['fill of the storage'] = function() t:storage():fill(7) end,
      ['copy of the storage'] = function() t:storage():copy(other:storage()) end,
      add = function() t:add(1) end,
      ['add of a tensor'] = function() t:add(2, other) end,
      mul = function() t:mul(2) end,
      cmul = function() t:cmul(other) end,
      addcmul = function() t:addcmul(1, other, other) end,
      clamp = function() t:clamp(0, 1) end,
      exp = function() t:exp() end,
      addmm = function() t:addmm(other, other) end,
      addr = function() t:addr(other[1], other[2]) end,
      cumsum = function() torch.cumsum(t, other, 1) end,
      uniform = function() t:uniform() end,
      normal = function() t:normal() end,
      bernoulli = function() t:bernoulli(0.5) end,
      indexFill = function() t:indexFill(1, index, 1) end,
      indexCopy = function() t:indexCopy(1, index, other:narrow(1, 1, 2)) end,
      indexAdd = function() t:indexAdd(1, index, other:narrow(1, 1, 2)) end,
      maskedFill = function() t:maskedFill(mask, 1) end,
      maskedCopy = function() t:maskedCopy(mask, other) end,
      renorm = function() t:renorm(2, 1, 0.1) end,
      cat = function() torch.cat(t, {other:narrow(1, 1, 2), other:narrow(1, 1, 2)}, 1) end,
      sort = function() torch.sort(t, index, other) end,
   }

   for name, change in pairs(changes) do
      it('increases with ' .. name, function()
         local storage, before = t.storage_, writes(t)
         change()
         assert.is_true(storage == t.storage_)
         assert.is_true(writes(t) > before)
      end)
   end

   it('does not increase on reads', function()
      local before = writes(t)
      local _ = t:clone():add(t):cmul(t):addmm(t, t)
      other:copy(t)
      other:add(1, t)
      t:float()
      t:eq(t)
      t:index(1, index)
      torch.exp(t)
      torch.sort(t)
      torch.cumsum(t, 1)
      torch.max(t, 1)
      t:maskedSelect(t:gt(0))
      t:gather(1, torch.CudaLongTensor(1, 4):fill(1))
      _ = t:sum() + t:norm() + t:dot(t) + t[1][2] + t:max()
      assert.equal(before, writes(t))
   end)
end)
