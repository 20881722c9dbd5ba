--- What specs know of the devices of this process.
local name = require('dpt').cutorch.getDeviceProperties(1).name

local M = {}

--- CUDA's kernels run, on a GPU or by the CPU.
M.isCuda = name ~= 'host device'

--- The devices are GPUs.
M.isHere = M.isCuda and name ~= 'emulated device'

return M
