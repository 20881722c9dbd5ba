--- dpt.util: the parts of `torch` that have nothing to do with tensors: command lines, timers, the
-- test harness, the environment.
--
-- Invariant: they work the same with and without devices; nothing here writes a global.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local want = require 'dpt.class.want'
local C, ffi = dptffi.C, dptffi.ffi

require 'dpt.util.timer'
require 'dpt.util.cmdline'
require 'dpt.util.tester'
require 'dpt.util.testsuite'

--- Whether a file of Lua's io library is a terminal (torch.isatty).
function torch.isatty(file)
   for number, standard in pairs{[0] = io.stdin, io.stdout, io.stderr} do
      if file == standard then return C.dpt_terminal(number) == 1 end
   end
   return false
end

--- The value of an environment variable, nil if it is not set (torch.getenv).
torch.getenv = os.getenv

--- Sets an environment variable of this process; value nil takes it away (torch.setenv).
function torch.setenv(name, value)
   dptffi.lib.setenv(name, value ~= nil and tostring(value) or nil)
end

--- Torch7 informed its collector about tensor memory if asked to; dpt always knows it, so this only
-- remembers what was said, as torch._heaptracking (torch.setheaptracking).
function torch.setheaptracking(on) torch._heaptracking = on end
torch._heaptracking = true

--- A Lua state that another thread goes on with needs nothing here (torch.updatethreadlocals).
function torch.updatethreadlocals() end
function torch.updateerrorhandlers() end

--- The text and the numbers of dpt's version (torch.version).
function torch.version() return ffi.string(C.dpt_version()) end

--- The folder of a package's Lua files (torch.packageLuaPath).
-- @param name a package's name; those that dpt brings, such as 'nn', lie in dpt's folder
-- @return the path, nil if there is no such package; without a name the folder above dpt's
function torch.packageLuaPath(name)
   if name ~= nil then want('torch.packageLuaPath', 'name', name, 'string') end
   local module = name == nil and 'dpt' or package.preload[name] and 'dpt' or name
   if name == 'torch' then module = 'dpt' end
   local path = package.searchpath(module, package.path)
   local folder = path and (path:match('^(.*)/[^/]*$') or '.')
   return folder and (name and folder or folder:match('^(.*)/[^/]*$') or '.')
end

--- Runs a Lua file that lies beside the file of the caller (torch.include, the global include).
-- @param package a package's name: the file lies in its folder
-- @param file the file's name; with one argument that argument, beside the calling file
function torch.include(package, file)
   local folder
   if file then
      folder = torch.packageLuaPath(want('torch.include', 'package', package, 'string')) or package
   else
      file = package
      folder = debug.getinfo(2, 'S').source:match('^@(.*)/[^/]*$') or '.'
   end
   return dofile(folder .. '/' .. want('torch.include', 'file', file, 'string'))
end

return torch
