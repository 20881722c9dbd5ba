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
      if file == standard then return C.dpt_terminal(number) > 0 end
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

--- Options of a program: names, defaults, texts; parse reads them.
-- @function torch.CmdLine
-- @as plaintorch
-- @param text? string: what stands between names and values of the file name
-- @return an object of class torch.CmdLine
-- @usage local c = torch.CmdLine()
--    c:option('-rate', 0.1, 'the step')
--    return c:parse({'-rate', '2'}).rate --> 2

--- A file on disk, read and written by readInt, writeObject and their kin.
-- @function torch.DiskFile
-- @as plaintorch
-- @within files
-- @param path string: the file
-- @param mode? string: 'r', 'w' or 'rw'
-- @param quiet? boolean: true: failures are counted, not raised
-- @return an object of class torch.DiskFile; nil if it cannot be opened and quiet was asked for
-- @usage local p = os.tmpname()
--    local f = torch.DiskFile(p, 'w')
--    f:writeInt(7)
--    f:close()
--    local v = torch.DiskFile(p):readInt()
--    os.remove(p)
--    return v --> 7

--- A file in memory, with the methods of torch.DiskFile.
-- @function torch.MemoryFile
-- @as plaintorch
-- @within files
-- @param storage? CharStorage: the bytes
-- @param mode? string: 'r', 'w' or 'rw'
-- @return an object of class torch.MemoryFile
-- @usage local f = torch.MemoryFile()
--    f:writeInt(7)
--    f:seek(1)
--    return f:readInt() --> 7

--- What a command of the shell prints or reads, with the methods of torch.DiskFile.
-- @function torch.PipeFile
-- @as plaintorch
-- @within files
-- @param command string: for the shell
-- @param mode? string: 'r' or 'w'
-- @return an object of class torch.PipeFile
-- @usage torch.PipeFile('echo 7'):readInt() --> 7

--- What torch.DiskFile, torch.MemoryFile and torch.PipeFile have in common.
-- @function torch.File
-- @as plaintorch
-- @within files
-- @return nothing: it is the class of the others and makes no object
-- @usage local class = 'torch.File'
--    return torch.isTypeOf(torch.MemoryFile(), class), torch.isTypeOf(io.stdout, class)
--    --> true, false

--- A generator of random numbers with a state of its own, for the first argument of drawing
-- functions.
-- @function torch.Generator
-- @as plaintorch
-- @return an object of class torch.Generator
-- @usage torch.type(torch.Generator()) --> torch.Generator

--- Measures real and processor time: timer:time().real are seconds since it was made.
-- @function torch.Timer
-- @as plaintorch
-- @return an object of class torch.Timer, which runs
-- @usage local timer = torch.Timer()
--    sys.sleep(0.001)
--    return timer:time().real -- 0.0011, say

--- Runs tests and counts what fails.
-- @function torch.Tester
-- @as plaintorch
-- @return an object of class torch.Tester
-- @usage torch.type(torch.Tester()) --> torch.Tester

--- A table of tests in which a name may stand once.
-- @function torch.TestSuite
-- @as plaintorch
-- @return table
-- @usage type(torch.TestSuite()) --> table

--- Returns the same as torch.save in binary, under its older name.
-- @function torch.saveobj
-- @as plaintorch
-- @within files
-- @param path string: the file
-- @param object any: what is saved
-- @return nothing, as torch.save
-- @usage local p = os.tmpname()
--    torch.saveobj(p, 6)
--    local v = torch.load(p)
--    os.remove(p)
--    return v --> 6

--- Returns the same as torch.load in binary, under its older name.
-- @function torch.loadobj
-- @as plaintorch
-- @within files
-- @param path string: the file
-- @return the value, as torch.load
-- @usage local p = os.tmpname()
--    torch.save(p, 'it')
--    local v = torch.loadobj(p)
--    os.remove(p)
--    return v --> it

--- What torch.serialize returns, as a CharStorage.
-- @function torch.serializeToStorage
-- @as plaintorch
-- @within files
-- @param object any: what is written
-- @return CharStorage
-- @usage torch.type(torch.serializeToStorage(5)) --> torch.CharStorage

--- Returns the value that torch.serializeToStorage wrote.
-- @function torch.deserializeFromStorage
-- @as plaintorch
-- @within files
-- @param storage CharStorage: of torch.serializeToStorage
-- @return the value that was written
-- @usage torch.deserializeFromStorage(torch.serializeToStorage(5)) --> 5

--- A variable of the environment; nil: it is not set.
-- @function torch.getenv
-- @as plaintorch
-- @param name string: the variable
-- @return string or nil
-- @usage type(torch.getenv 'PATH'), torch.getenv 'DPT_NOSUCH' --> string, nil

--- Sets a variable of the environment of this process.
-- @function torch.setenv
-- @as plaintorch
-- @param name string: the variable
-- @param value string: what it becomes
-- @return nothing
-- @usage torch.setenv('DPT_REFERENCE', 'x') return torch.getenv 'DPT_REFERENCE' --> x

--- Whether a file is a terminal.
-- @function torch.isatty
-- @as plaintorch
-- @param file file: as io.stdout
-- @return boolean
-- @usage local f = io.tmpfile()
--    local is = torch.isatty(f)
--    f:close()
--    return is --> false

--- Whether two values are one object: the same tensor or storage, not equal elements (torch.equal).
-- @function torch.isequal
-- @as plaintorch
-- @param a any: a tensor, a storage
-- @param b any: the other
-- @return boolean
-- @usage local a, b = torch.ones(1), torch.ones(1)
--    return torch.isequal(a, a), torch.isequal(a, b), torch.equal(a, b) --> true, false, true

--- Runs a file that stands beside a package's.
-- @function torch.include
-- @as plaintorch
-- @param package string: its name
-- @param file string: beside the package's init.lua
-- @return what the file returns
-- @usage type(torch.include) --> function

--- Where the Lua files of packages are.
-- @function torch.packageLuaPath
-- @as plaintorch
-- @param name? string: of a package
-- @return string or nil
-- @usage type(torch.packageLuaPath) --> function

--- Does nothing here: dpt counts what tensors hold anyhow.
-- @function torch.setheaptracking
-- @as plaintorch
-- @param on boolean: any
-- @return nothing
-- @usage type(torch.setheaptracking) --> function

--- Does nothing here: errors need no handlers of a thread's own.
-- @function torch.updateerrorhandlers
-- @as plaintorch
-- @return nothing
-- @usage type(torch.updateerrorhandlers) --> function

--- Does nothing here: threads of dpt find their state by themselves.
-- @function torch.updatethreadlocals
-- @as plaintorch
-- @return nothing
-- @usage type(torch.updatethreadlocals) --> function

--- Returns the memory behind tensors, a row of numbers of one type.
-- @function torch.Storage
-- @as plaintorch
-- @also torch.ByteStorage
-- @also torch.CharStorage
-- @also torch.ShortStorage
-- @also torch.IntStorage
-- @also torch.LongStorage
-- @also torch.HalfStorage
-- @also torch.FloatStorage
-- @also torch.DoubleStorage
-- @also torch.CudaByteStorage
-- @also torch.CudaCharStorage
-- @also torch.CudaShortStorage
-- @also torch.CudaIntStorage
-- @also torch.CudaLongStorage
-- @also torch.CudaHalfStorage
-- @also torch.CudaStorage
-- @also torch.CudaDoubleStorage
-- @param size? number: how many elements; or a table of them
-- @return a storage of the default type
-- @usage torch.Storage{4, 5}:totable() --> {4 5}

return torch
