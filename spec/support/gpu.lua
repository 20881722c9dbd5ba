--- Tells which kind of devices this process has.
local name = require('dpt').cutorch.getDeviceProperties(1).name

local M = {}

--- True if CUDA's kernels run, on a GPU or on the CPU.
M.isCuda = name ~= 'host device'

--- True if the devices are GPUs.
M.isHere = M.isCuda and name ~= 'emulated device'

return M
