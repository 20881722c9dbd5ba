--- dpt.util: the parts of `torch` without tensors: command lines, timers, the test harness, the
-- environment.
--
-- Invariant: they work the same with and without devices; nothing here sets a global.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local expect = require 'dpt.class.expect'
local C, ffi = dptffi.C, dptffi.ffi

require 'dpt.util.timer'
require 'dpt.util.cmdline'
require 'dpt.util.tester'
require 'dpt.util.testsuite'

--- Returns true if a file of Lua's io library is a terminal (torch.isatty).
function torch.isatty(file)
   for number, standard in pairs{[0] = io.stdin, io.stdout, io.stderr} do
      if file == standard then return C.dpt_terminal(number) > 0 end
   end
   return false
end

--- Returns the value of an environment variable, nil if it is not set (torch.getenv).
torch.getenv = os.getenv

--- Sets an environment variable of this process; nil removes it (torch.setenv).
function torch.setenv(name, value)
   dptffi.lib.setenv(name, value ~= nil and tostring(value) or nil)
end

--- Torch7 reported tensor memory to Lua's collector on request; dpt always does, so this only
-- stores the setting in torch._heaptracking (torch.setheaptracking).
function torch.setheaptracking(on) torch._heaptracking = on end
torch._heaptracking = true

--- Does nothing: a Lua state needs no update when another thread runs it
-- (torch.updatethreadlocals).
function torch.updatethreadlocals() end
function torch.updateerrorhandlers() end

--- Returns dpt's version as text and as numbers (torch.version).
function torch.version() return ffi.string(C.dpt_version()) end

--- Returns the folder of a package's Lua files (torch.packageLuaPath).
-- @param name a package's name; packages of dpt, such as 'nn', are in dpt's folder
-- @return the path, nil if there is no such package; without a name, the folder above dpt's
function torch.packageLuaPath(name)
   if name ~= nil then expect('torch.packageLuaPath', 'name', name, 'string') end
   local module = name == nil and 'dpt' or package.preload[name] and 'dpt' or name
   if name == 'torch' then module = 'dpt' end
   local path = package.searchpath(module, package.path)
   local folder = path and (path:match('^(.*)/[^/]*$') or '.')
   return folder and (name and folder or folder:match('^(.*)/[^/]*$') or '.')
end

--- Runs a Lua file in the folder of the caller's file (torch.include, the global include).
-- @param package a package's name, whose folder contains the file
-- @param file the file's name; a single argument is the name of a file beside the caller's
function torch.include(package, file)
   local folder
   if file then
      expect('torch.include', 'package', package, 'string')
      folder = torch.packageLuaPath(package) or package
   else
      file = package
      folder = debug.getinfo(2, 'S').source:match('^@(.*)/[^/]*$') or '.'
   end
   return dofile(folder .. '/' .. expect('torch.include', 'file', file, 'string'))
end

--- Creates a parser of command line options, which have names, defaults and help texts.
-- @function torch.CmdLine
-- @as plaintorch
-- @param text? string: separator of names and values in CmdLine:string
-- @return an object of class torch.CmdLine
-- @usage local c = torch.CmdLine()
--    c:option('-rate', 0.1, 'the step')
--    return c:parse({'-rate', '2'}).rate --> 2

--- Opens a file on disk, read and written by readInt, writeObject and similar methods.
-- @function torch.DiskFile
-- @as plaintorch
-- @within files
-- @param path string: of the file
-- @param mode? string: 'r', 'w' or 'rw'
-- @param quiet? boolean: true: errors are recorded, not raised
-- @return an object of class torch.DiskFile; nil if it cannot be opened and quiet is true
-- @usage local p = os.tmpname()
--    local f = torch.DiskFile(p, 'w')
--    f:writeInt(7)
--    f:close()
--    local v = torch.DiskFile(p):readInt()
--    os.remove(p)
--    return v --> 7

--- Creates a file in memory, with the methods of torch.DiskFile.
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

--- Runs a shell command and reads its output or writes its input, with the methods of
-- torch.DiskFile.
-- @function torch.PipeFile
-- @as plaintorch
-- @within files
-- @param command string: for the shell
-- @param mode? string: 'r' or 'w'
-- @return an object of class torch.PipeFile
-- @usage torch.PipeFile('echo 7'):readInt() --> 7

--- Base class of torch.DiskFile, torch.MemoryFile and torch.PipeFile.
-- @function torch.File
-- @as plaintorch
-- @within files
-- @return nothing: the class is abstract
-- @usage local class = 'torch.File'
--    return torch.isTypeOf(torch.MemoryFile(), class), torch.isTypeOf(io.stdout, class)
--    --> true, false

--- Creates a random number generator with its own state, which can be the first argument of
-- functions that draw.
-- @function torch.Generator
-- @as plaintorch
-- @return an object of class torch.Generator
-- @usage torch.type(torch.Generator()) --> torch.Generator

--- Measures real and processor time: timer:time().real is the time since its creation in seconds.
-- @function torch.Timer
-- @as plaintorch
-- @return an object of class torch.Timer, already running
-- @usage local timer = torch.Timer()
--    sys.sleep(0.001)
--    return timer:time().real -- 0.0011, say

--- Runs tests and counts failures.
-- @function torch.Tester
-- @as plaintorch
-- @return an object of class torch.Tester
-- @usage torch.type(torch.Tester()) --> torch.Tester

--- Creates a table of tests in which each name can be used only once.
-- @function torch.TestSuite
-- @as plaintorch
-- @return table
-- @usage type(torch.TestSuite()) --> table

--- Older name of torch.save, in binary mode.
-- @function torch.saveobj
-- @as plaintorch
-- @within files
-- @param path string: of the file
-- @param object any: the value to save
-- @return nothing
-- @usage local p = os.tmpname()
--    torch.saveobj(p, 6)
--    local v = torch.load(p)
--    os.remove(p)
--    return v --> 6

--- Older name of torch.load, in binary mode.
-- @function torch.loadobj
-- @as plaintorch
-- @within files
-- @param path string: of the file
-- @return the value, as torch.load returns it
-- @usage local p = os.tmpname()
--    torch.save(p, 'it')
--    local v = torch.loadobj(p)
--    os.remove(p)
--    return v --> it

--- Serializes a value as torch.serialize does, into a CharStorage.
-- @function torch.serializeToStorage
-- @as plaintorch
-- @within files
-- @param object any: the value to serialize
-- @return CharStorage
-- @usage torch.type(torch.serializeToStorage(5)) --> torch.CharStorage

--- Returns the value that torch.serializeToStorage serialized.
-- @function torch.deserializeFromStorage
-- @as plaintorch
-- @within files
-- @param storage CharStorage: result of torch.serializeToStorage
-- @return the value
-- @usage torch.deserializeFromStorage(torch.serializeToStorage(5)) --> 5

--- Returns an environment variable, or nil if it is not set.
-- @function torch.getenv
-- @as plaintorch
-- @param name string: of the variable
-- @return string or nil
-- @usage type(torch.getenv 'PATH'), torch.getenv 'DPT_NOSUCH' --> string, nil

--- Sets an environment variable of this process.
-- @function torch.setenv
-- @as plaintorch
-- @param name string: of the variable
-- @param value string: its new value
-- @return nothing
-- @usage torch.setenv('DPT_REFERENCE', 'x') return torch.getenv 'DPT_REFERENCE' --> x

--- Returns true if a file is a terminal.
-- @function torch.isatty
-- @as plaintorch
-- @param file file: such as io.stdout
-- @return boolean
-- @usage local f = io.tmpfile()
--    local is = torch.isatty(f)
--    f:close()
--    return is --> false

--- Returns true if two values are the same tensor or storage; torch.equal compares elements.
-- @function torch.isequal
-- @as plaintorch
-- @param a any: a tensor or a storage
-- @param b any: the other value
-- @return boolean
-- @usage local a, b = torch.ones(1), torch.ones(1)
--    return torch.isequal(a, a), torch.isequal(a, b), torch.equal(a, b) --> true, false, true

--- Runs a file in the folder of a package.
-- @function torch.include
-- @as plaintorch
-- @param package string: its name
-- @param file string: in the folder of the package's init.lua
-- @return the results of the file
-- @usage type(torch.include) --> function

--- Returns the folder of a package's Lua files.
-- @function torch.packageLuaPath
-- @as plaintorch
-- @param name? string: of a package
-- @return string or nil
-- @usage type(torch.packageLuaPath) --> function

--- Does nothing: dpt always counts the memory of tensors.
-- @function torch.setheaptracking
-- @as plaintorch
-- @param on boolean: ignored
-- @return nothing
-- @usage type(torch.setheaptracking) --> function

--- Does nothing: dpt's errors need no handlers per thread.
-- @function torch.updateerrorhandlers
-- @as plaintorch
-- @return nothing
-- @usage type(torch.updateerrorhandlers) --> function

--- Does nothing: dpt's threads find their state themselves.
-- @function torch.updatethreadlocals
-- @as plaintorch
-- @return nothing
-- @usage type(torch.updatethreadlocals) --> function

--- Creates a storage: the memory of tensors, an array of numbers of one type.
-- @function torch.Storage
-- @as plaintorch
-- @also torch.ByteStorage
-- @also torch.CharStorage
-- @also torch.ShortStorage
-- @also torch.IntStorage
-- @also torch.LongStorage
-- @also torch.HalfStorage
-- @also torch.BFloat16Storage
-- @also torch.FloatStorage
-- @also torch.DoubleStorage
-- @also torch.CudaByteStorage
-- @also torch.CudaCharStorage
-- @also torch.CudaShortStorage
-- @also torch.CudaIntStorage
-- @also torch.CudaLongStorage
-- @also torch.CudaHalfStorage
-- @also torch.CudaBFloat16Storage
-- @also torch.CudaStorage
-- @also torch.CudaDoubleStorage
-- @param size? number: how many elements; or a table of them
-- @return a storage of the default type
-- @usage torch.Storage{4, 5}:totable() --> {4 5}

return torch
