--- nn.DataParallel(module, {devices, outputDevice, dim, gather, buffers, overlap, weights}): runs a
-- network on several devices, like PyTorch's class of that name.
--
--    net = nn.DataParallel(network)                           -- on all devices
--    net = nn.DataParallel(network, {devices = {2, 3}, outputDevice = 3})
--
-- Invariant: the result is an nn.DataParallelTable with flat parameters. The module itself becomes
-- replica 1, on the first device. A module of a host type is converted to torch.CudaTensor; others
-- keep their type. Batches of every size take the same code path.
-- @function nn.DataParallel
-- @within nn data-parallel
-- @as parallel
-- @param devices a list of devices (all)
-- @param outputDevice the device on which outputs are joined (the first)
-- @param dim the dimension that is split (1)
-- @param gather false: outputs stay on their devices
-- @param buffers how running statistics are combined, see docs/data-parallel-replicas.md
-- @param overlap false: gradients are summed after the backward pass, not during it
-- @param weights a list of numbers; each device gets rows in proportion to its number
-- @return a module; forward: the network's input -> its output on outputDevice
-- @usage nn.DataParallel(nn.Linear(3, 2)):forward(torch.CudaTensor(8, 3):fill(1)):size()
--    --> 8x2
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local cutorch = require 'dpt.device'
local devices = require 'dpt.parallel.dispatch.devices'
local options = require 'dpt.nn.DataParallelTable.options'
local child = require 'dpt.nn.child'
local fail = require('dpt.ffi').fail

local NAME = 'nn.DataParallel'

--- @param module is moved to the first device
-- @param given devices = list (all), dim = dimension that batches are split along (1), and the
--    options of nn.DataParallelTable
function nn.DataParallel(module, given)
   if not torch.isTypeOf(module, 'nn.Module') then
      fail('%s: wants an nn.Module as argument 1, got %s', NAME, torch.type(module))
   end
   child.rejectDistributed(NAME, 'argument 1', module, 'nn.DataParallel(network)')
   given = options.read(given, {'devices', 'dim', unpack(options.names)}, NAME, 2)
   local passed = {}
   for _, name in ipairs(options.names) do passed[name] = given[name] end
   local net = nn.DataParallelTable(given.dim or 1, true, false, passed)
   local wrong, list = devices.check({}, given.devices or devices.all())
   if wrong then fail('%s: %s', NAME, wrong) end
   local typename = options.typeOf(module) or 'torch.CudaTensor'
   cutorch.withDevice(list[1], function() module:type(typename) end)
   return net:type(typename):add(nn.utils.moveTo(module, list[1]), list)
end

return nn.DataParallel
