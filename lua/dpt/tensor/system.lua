--- dpt.tensor.system: torch's view of the process: threads, environment, files of Lua code.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib
local torch = class.torch

ffi.cdef [[
   long sysconf(int name);
   int isatty(int fd);
   int fileno(void *file);
   int setenv(const char *name, const char *value, int overwrite);
   int unsetenv(const char *name);
]]

--- The version of dpt, "0.1.0".
function torch.version() return ffi.string(C.dpt_version()) end

--- How many threads an operation on host tensors uses, from the next call on.
function torch.setnumthreads(n)
   lib.threads_set(core.checkNumber('setnumthreads', 'n', n))
end
function torch.getnumthreads() return C.dpt_threads_get() end
function torch.getnumcores() return tonumber(ffi.C.sysconf(84)) end -- _SC_NPROCESSORS_ONLN

--- Memory is watched by dpt itself (tensor/core.lua): this only keeps scripts running.
function torch.setheaptracking() end


--- Whether a Lua file is a terminal.
function torch.isatty(file) return ffi.C.isatty(ffi.C.fileno(file)) ~= 0 end

torch.getenv = os.getenv
--- Sets an environment variable, or removes it (value nil).
function torch.setenv(name, value)
   if value == nil then return ffi.C.unsetenv(name) == 0 end
   return ffi.C.setenv(name, tostring(value), 1) == 0
end

--- The folder of a Lua package's init.lua; without a name, the folder of the calling file.
function torch.packageLuaPath(name)
   if name then
      local path = package.searchpath(name, package.path)
      if not path and (name == 'torch' or package.preload[name]) then
         path = package.searchpath('dpt', package.path)
      end
      return path and path:match('^(.*)/[^/]*$')
   end
   local source = debug.getinfo(2, 'S').source:match('^@(.*)$')
   return source and (source:match('^(.*)/[^/]*$') or '.') or ''
end

--- Runs a Lua file that lies beside the calling one (or, for package 'a.b', in that package).
function torch.include(package, file)
   if not file then
      local source = debug.getinfo(2, 'S').source:match('^@(.*)$') or ''
      return dofile((source:match('^(.*)/[^/]*$') or '.') .. '/' .. package)
   end
   return dofile(torch.packageLuaPath(package) .. '/' .. file)
end
