--- Runs code with emulated devices and the replacement of NCCL (spec/emulation/nccl.cpp).
local run = require 'spec.support.run'

local M = {}

local library = os.getenv 'DPT_LIBRARY' or 'build/libdpt.so'
M.library = library:gsub('[^/]*$', '') .. 'libnccl_fake.so'

--- Returns the output of a process that begins with `local dpt, comm, nccl, torch, cutorch, n`; n
-- is the number of devices, and tensors(count) returns a list of vectors of that size, with i on
-- device i.
-- @param devices their number, or a list ('0,0')
-- @param faults faults of the replacement: words for DPT_FAKE_NCCL
-- @param more other variables
function M.run(code, devices, faults, more)
   local environment = {DPT_DEVICES = 'emulated:' .. devices, DPT_NCCL = M.library,
      DPT_FAKE_NCCL = faults or '', DPT_TIMEOUT = '100'}
   for name, value in pairs(more or {}) do environment[name] = value end
   return run.lua([[
      local dpt = require 'dpt'
      local comm, nccl, torch, cutorch = dpt.comm, dpt.nccl, dpt.torch, dpt.cutorch
      local n = cutorch.getDeviceCount()
      local function tensors(count)
         local list = {}
         for i = 1, n do
            list[i] = cutorch.withDevice(i, function() return torch.CudaTensor(count):fill(i) end)
         end
         return list
      end
   ]] .. code, environment)
end

return M
