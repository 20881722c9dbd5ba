--- Checks that this process still computes correct results after any earlier calls.
--
-- Invariant: tidy() restores the state of the process that scripts may change. It reads the
-- pending errors of queued work, so that no later call raises them.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch

local M = {}

local function drain()
   local devices = cutorch.getDeviceCount()
   for _ = 1, 64 * (devices + 1) do
      if pcall(cutorch.synchronizeAll) then return end
   end
   error 'wrong: an error of queued work is raised for ever'
end

local function computes(where, make)
   local x = make(5, 3):fill(2)
   if x:sum() ~= 30 or torch.cmul(x, x):sum() ~= 60 or torch.mm(x, x:t()):sum() ~= 300 then
      error('wrong: sums on ' .. where)
   end
   if x:uniform(1, 2):min() < 1 or x:max() > 2 then error('wrong: random numbers on ' .. where) end
end

local function tidy()
   require('dpt.ffi').lib.fault_set ''
   torch.setdefaulttensortype 'torch.DoubleTensor'
   torch.setnumthreads(1)
   if cutorch then
      drain()
      cutorch.setDevice(1)
      cutorch.setDefaultStream()
      for i = 1, cutorch.getDeviceCount() do cutorch.setMemoryLimit(i, 2 ^ 26) end
   end
   collectgarbage()
   torch.manualSeed(1)
   computes('the host', torch.DoubleTensor)
   for i = 1, cutorch and cutorch.getDeviceCount() or 0 do
      cutorch.setDevice(i)
      cutorch.manualSeed(1)
      computes('device ' .. i, torch.CudaTensor)
   end
   if cutorch then cutorch.setDevice(1) end
end

function M.tidy()
   local ok, message = pcall(tidy)
   if not ok and not message:find 'wrong: ' then message = 'wrong: ' .. message end
   if not ok then error(message, 0) end
end

return M
