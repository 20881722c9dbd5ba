--- nn.DataParallel(module, {devices, outputDevice, dim, gather, buffers, overlap, weights}): a
-- network on several devices in one line, after PyTorch's class of that name.
--
--    net = nn.DataParallel(network)                           -- on all devices
--    net = nn.DataParallel(network, {devices = {2, 3}, outputDevice = 3})
--
-- Invariant: the result is an nn.DataParallelTable with flat parameters; the module itself becomes
-- replica 1, on the first device. One of a host type becomes a torch.CudaTensor one, others keep
-- their type. A batch of any size takes the same way.
-- @function nn.DataParallel
-- @within nn data-parallel
-- @as parallel
-- @param devices a list of devices (all of them)
-- @param outputDevice where outputs are joined (the first device)
-- @param dim the dimension that is split (1)
-- @param gather false: outputs stay on their devices
-- @param buffers what becomes of running statistics, see docs/data-parallel.md
-- @param overlap false: gradients are added up after the backward pass
-- @param weights a list of numbers, in proportion to which devices get rows
-- @return a module; forward: what the network takes -> its output on outputDevice
-- @usage nn.DataParallel(nn.Linear(3, 2)):forward(torch.CudaTensor(8, 3):fill(1)):size()
--    --> 8x2
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local cutorch = require 'dpt.device'
local devices = require 'dpt.parallel.dispatch.devices'
local options = require 'dpt.nn.DataParallelTable.options'
local part = require 'dpt.nn.part'
local fail = require('dpt.ffi').fail

local NAME = 'nn.DataParallel'

--- @param module which is moved to the first device
-- @param given devices = list (all), dim = along which batches are cut (1), and the options of
-- nn.DataParallelTable
function nn.DataParallel(module, given)
   if not torch.isTypeOf(module, 'nn.Module') then
      fail('%s: wants an nn.Module as argument 1, got %s', NAME, torch.type(module))
   end
   part.wantBare(NAME, 'argument 1', module, 'nn.DataParallel(network)')
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
