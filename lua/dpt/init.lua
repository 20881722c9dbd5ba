--- dpt: the result of `require 'dpt'`: a table whose fields are its packages.
--
-- Invariant: this is the only file that knows all packages; only dpt.compat sets globals.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local compat = require 'dpt.compat'
local type = dptffi.type

local dpt = {_VERSION = dptffi.ffi.string(dptffi.C.dpt_version())}
compat.reject()

dpt.torch = require 'dpt.tensor'
class.packages.torch = dpt.torch
require 'dpt.util'
require 'dpt.file'
dpt.paths, dpt.sys, dpt.xlua = require 'dpt.util.paths', require 'dpt.util.sys',
   require 'dpt.util.xlua'
dpt.cutorch = require 'dpt.device'
dpt.threads = require 'dpt.threads'
dpt.comm = require 'dpt.comm'
dpt.nccl = require 'dpt.comm.nccl'
dpt.distributed = require 'dpt.distributed'
dpt.profiler = require 'dpt.profiler'
dpt.nn = require 'dpt.nn'
dpt.cudnn = require 'dpt.cudnn'
dpt.optim = require 'dpt.optim'

--- Makes layers process fixed blocks of rows (or single images), so that a row's output and
-- gradInput are bitwise independent of the other rows of the batch. DPT_DETERMINISTIC=1 does the
-- same. It also disables Winograd's algorithm, which large 3 x 3 convolutions use otherwise. Its
-- rounding errors are up to 1e-5 of the largest number in a tile of 6 x 6 pixels: a pixel of 1e6
-- causes errors of 10 even in neighbours that do not depend on it.
-- @function dpt.setDeterministic
-- @as dpt
-- @param on boolean: true enables it
-- @return nothing
-- @usage local dpt, net, x = require 'dpt', nn.Linear(3, 2), torch.ones(4, 3)
--    dpt.setDeterministic(true)
--    local y = net:forward(x):clone()
--    local alone = net:forward(x[1])
--    dpt.setDeterministic(false)
--    return y[1] - alone --> [0 0]
function dpt.setDeterministic(on) dptffi.C.dpt_deterministic_set(on and 1 or 0) end

compat.install(dpt)

local count = dptffi.ffi.new 'int[1]'

-- Scripts test "if cutorch then": without a device, these names are undefined.
local function showDevices()
   local none = dptffi.C.dpt_device_expected(count) == 0 and count[0] == 0
   compat.devices(dpt, not none)
end
showDevices()

--- Selects the devices, as DPT_DEVICES does: 'host:4', 'none', 'cuda', 'cuda:0,2'. Raises after the
-- first use of a device.
-- @function dpt.setDevices
-- @as dpt
-- @param spec string: as for DPT_DEVICES
-- @return nothing
-- @usage select(2, pcall(require('dpt').setDevices, 5)):match 'got.*'
--    --> got number, wanted a string such as 'host:4'
function dpt.setDevices(spec)
   if type(spec) ~= 'string' then
      dptffi.fail("dpt.setDevices: got %s, wanted a string such as 'host:4'",
         class.torch.type(spec))
   end
   dptffi.lib.devices_set(spec)
   showDevices()
end

--- Returns one line that describes the devices and why they were chosen.
-- @function dpt.devices
-- @as dpt
-- @return a string
-- @usage type(require('dpt').devices()) --> string
function dpt.devices() return dptffi.ffi.string(dptffi.C.dpt_device_report()) end

dptffi.lib.interrupt_install()
require('dpt.threads.named').loaded()

--- Tags shared by the reference entries of dpt itself.
-- @pattern dpt
-- @within utilities
-- @follows dpt's own
-- @raise if an argument has the wrong type

return dpt
