--- Runs code where devices are emulated and NCCL's stand-in (spec/emulation/nccl.cpp) is there.
local run = require 'spec.support.run'

local M = {}

local library = os.getenv 'DPT_LIBRARY' or 'build/libdpt.so'
M.library = library:gsub('[^/]*$', '') .. 'libnccl_fake.so'

--- Prints of a process that begins with `local dpt, comm, nccl, torch, cutorch, n`; n is the number
-- of devices, and tensors(count) a list of vectors of that count, with i on device i.
-- @param devices how many, or which ('0,0')
-- @param faults what the stand-in does wrong: words for DPT_FAKE_NCCL
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
