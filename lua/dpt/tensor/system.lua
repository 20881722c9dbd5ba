--- dpt.tensor.system: how many threads an operation on host tensors uses.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local C, lib, torch = dptffi.C, dptffi.lib, class.torch

--- From the next call on, of this OS thread.
function torch.setnumthreads(n)
   lib.threads_set(core.checkInteger('setnumthreads', 'n', n))
end
function torch.getnumthreads() return C.dpt_threads_get() end
function torch.getnumcores() return C.dpt_cores() end
