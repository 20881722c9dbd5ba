--- dpt.tensor.system: the number of threads that operations on host tensors use.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local C, lib, torch = dptffi.C, dptffi.lib, class.torch

--- Sets the number of threads that operations called by this OS thread use from now on.
function torch.setnumthreads(n)
   lib.threads_set(core.checkInteger('setnumthreads', 'n', n))
end
function torch.getnumthreads() return C.dpt_threads_get() end
function torch.getnumcores() return C.dpt_cores() end
