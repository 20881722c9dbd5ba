--- dpt: what `require 'dpt'` returns: a table whose fields are its packages.
--
-- Invariant: this is the only file that knows all packages; only dpt.compat writes globals.
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

--- Layers then work on one fixed row block (or image) at a time: the bits of a row's output and
-- gradInput do not depend on the other rows of its batch. DPT_DETERMINISTIC=1 says the same.
-- Convolutions then are sums of products alone; without it large ones of 3 x 3 go by Winograd's
-- algorithm, whose rounding errors are up to 1e-5 of the largest number in a tile of 6 x 6 pixels:
-- a pixel of 1e6 leaves errors of 10 at neighbours that do not see it, too.
-- @function dpt.setDeterministic
-- @as dpt
-- @param on boolean: true: so it is from now on
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

-- Scripts ask "if cutorch then": without a device its names are not there.
local function showDevices()
   local none = dptffi.C.dpt_device_expected(count) == 0 and count[0] == 0
   compat.devices(dpt, not none)
end
showDevices()

--- Says what the devices are, as DPT_DEVICES does: 'host:4', 'none', 'cuda', 'cuda:0,2'. An error
-- after the first use of a device.
-- @function dpt.setDevices
-- @as dpt
-- @param spec string: as for DPT_DEVICES
-- @return nothing
-- @usage select(2, pcall(require('dpt').setDevices, 5)):match 'got.*'
--    --> got number, wanted a string as in 'host:4'
function dpt.setDevices(spec)
   if type(spec) ~= 'string' then
      dptffi.fail("setDevices: got %s, wanted a string as in 'host:4'", class.torch.type(spec))
   end
   dptffi.lib.devices_set(spec)
   showDevices()
end

--- One line: what the devices are and why.
-- @function dpt.devices
-- @as dpt
-- @return a string
-- @usage type(require('dpt').devices()) --> string
function dpt.devices() return dptffi.ffi.string(dptffi.C.dpt_device_report()) end

dptffi.lib.interrupt_install()
require('dpt.threads.named').loaded()

--- What functions of dpt itself have in common, for the reference.
-- @pattern dpt
-- @within utilities
-- @follows dpt's own
-- @raise if an argument is of another kind

return dpt
