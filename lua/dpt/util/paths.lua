--- paths: Torch7's functions for files and folders.
--
-- Invariant: paths.concat returns an absolute path without `.` and `..`; functions that search
-- return nil or false if they find nothing, they do not raise.
local dptffi = require 'dpt.ffi'
local expectKind = require 'dpt.class.expect'
local C, ffi, type = dptffi.C, dptffi.ffi, dptffi.type

local paths = {}

local function expect(name, value, argument)
   return expectKind('paths.' .. name, argument or 'path', value, 'string')
end

--- The user's home folder.
-- @field paths.home
-- @as paths
-- @return a string
-- @usage type(paths.home) --> string
paths.home = os.getenv 'HOME' or '.'

-- Installation prefix of dpt: the folder above lua/ (the source tree) or share/lua/5.1/.
do
   local folder = debug.getinfo(1, 'S').source:match '^@(.*)dpt/util/paths%.lua$' or './'

   --- Installation folders: the prefix, and subfolders with the layout of Torch7's.
   -- @field paths.install_prefix
   -- @as paths
   -- @also paths.install_bin
   -- @also paths.install_man
   -- @also paths.install_lib
   -- @also paths.install_share
   -- @also paths.install_include
   -- @also paths.install_cmake
   -- @return a string: the path of a folder
   -- @usage paths.install_bin:sub(#paths.install_prefix + 1) --> /bin
   paths.install_prefix = folder .. (folder:find 'share/lua/5%.1/$' and '../../..' or '..')
   for _, part in ipairs{'bin', 'man', 'lib', 'share', 'include', 'cmake'} do
      paths['install_' .. part] = paths.install_prefix .. '/' .. part
   end
end

--- Returns true if there is a file at the path.
-- @function paths.filep
-- @as paths
-- @param path string: the path to test
-- @return a boolean
-- @usage paths.filep '/bin/sh', paths.filep '/bin' --> true, false
function paths.filep(path) return C.dpt_path_kind(expect('filep', path)) == 1 end

--- Returns true if there is a folder at the path.
-- @function paths.dirp
-- @as paths
-- @param path string: the path to test
-- @return a boolean
-- @usage paths.dirp '/bin', paths.dirp '/bin/sh' --> true, false
function paths.dirp(path) return C.dpt_path_kind(expect('dirp', path)) == 2 end

--- Returns the path of the current folder.
-- @function paths.cwd
-- @as paths
-- @return a string
-- @usage paths.cwd():sub(1, 1) --> /
function paths.cwd()
   local path = C.dpt_cwd()
   if path == nil then dptffi.raiseMessage() end
   return ffi.string(path)
end

--- Joins paths: each is relative to the one before it, the first to the current folder.
-- @function paths.concat
-- @as paths
-- @param ... string: any number of paths
-- @return an absolute path without `.` and `..`
-- @usage paths.concat('/a', 'b/../c', 'd') --> /a/c/d
function paths.concat(...)
   local whole = ''
   for i = 1, select('#', ...) do
      local path = expect('concat', (select(i, ...)))
      whole = path:sub(1, 1) == '/' and path or whole .. '/' .. path
      if i == 1 and path:sub(1, 1) ~= '/' then whole = paths.cwd() .. '/' .. path end
   end
   if whole == '' then return paths.cwd() end
   local parts = {}
   for part in whole:gmatch('[^/]+') do
      if part == '..' then
         parts[#parts] = nil
      elseif part ~= '.' then
         parts[#parts + 1] = part
      end
   end
   return '/' .. table.concat(parts, '/')
end

--- Returns the last part of a path.
-- @function paths.basename
-- @as paths
-- @param path string: of a file or a folder
-- @param suffix? string: removed with its dot if the name ends with it
-- @return a string; '' if the path has only slashes
-- @usage paths.basename('/a/b.lua', 'lua') --> b
function paths.basename(path, suffix)
   local name = expect('basename', path):match('([^/]*)/*$')
   suffix = suffix and expect('basename', suffix, 'suffix'):gsub('^%.?', '.') or '.'
   if suffix ~= '.' and name:sub(-#suffix) == suffix then return name:sub(1, -#suffix - 1) end
   return name
end

--- Returns the path without its last part.
-- @function paths.dirname
-- @as paths
-- @param path string: of a file or a folder
-- @return a string
-- @usage paths.dirname '/a/b.lua' --> /a
function paths.dirname(path)
   path = expect('dirname', path):gsub('(.)/+$', '%1')
   local folder = path:match('^(.*)/[^/]*$')
   if not folder then return '.' end
   folder = folder:gsub('/+$', '')
   return folder == '' and '/' or folder
end

--- Returns the part of the name after the last dot, or nil if there is none.
-- @function paths.extname
-- @as paths
-- @param path string: of a file
-- @return a string or nil
-- @usage paths.extname 'b.tar.gz' --> gz
function paths.extname(path) return paths.basename(path):match '%.([^.]*)$' end

--- Returns the sorted names in a folder, including `.` and `..`; nil if it cannot be read.
-- @function paths.dir
-- @as paths
-- @param path string: of a folder
-- @return a list of strings, or nil
-- @usage paths.dir('/')[1] --> .
function paths.dir(path)
   local text = C.dpt_folder_list(expect('dir', path))
   if text == nil then return nil end
   local names = {}
   for name in ffi.string(text):gmatch('[^/]+') do names[#names + 1] = name end
   table.sort(names)
   return names
end

local function iterate(names, keep)
   local i = 0
   return function()
      repeat i = i + 1 until not names or names[i] == nil or keep(names[i])
      return names and names[i]
   end
end

--- Iterates over the names in a folder.
-- @function paths.files
-- @as paths
-- @param path string: of the folder
-- @param filter? string: a pattern that names match; or a function(name) that returns true for the
--    names to include
-- @return an iterator for a for loop
-- @usage (function() for name in paths.files('/', '^%.%.$') do return name end end)() --> ..
function paths.files(path, filter)
   return iterate(paths.dir(path), function(name)
      if filter == nil then return true end
      if type(filter) == 'function' then return filter(name) end
      return name:find(filter) ~= nil
   end)
end

--- Iterates over the files in a folder.
-- @function paths.iterfiles
-- @as paths
-- @param path string: of the folder
-- @return an iterator for a for loop
-- @usage local n = 0
--    for name in paths.iterfiles '/dev' do
--       if paths.dirp('/dev/' .. name) then n = n + 1 end
--    end
--    return n --> 0
function paths.iterfiles(path)
   return iterate(paths.dir(path), function(name) return paths.filep(path .. '/' .. name) end)
end

--- Iterates over the folders in a folder, without `.` and `..`.
-- @function paths.iterdirs
-- @as paths
-- @param path string: of the folder
-- @return an iterator for a for loop
-- @usage (function()
--       for name in paths.iterdirs '/' do if name == 'tmp' then return name end end
--    end)() --> tmp
function paths.iterdirs(path)
   return iterate(paths.dir(path), function(name)
      return name ~= '.' and name ~= '..' and paths.dirp(path .. '/' .. name)
   end)
end

--- Creates a folder and its missing parents.
-- @function paths.mkdir
-- @as paths
-- @param path string: of the folder
-- @return true, or nil and a reason
-- @usage local p = os.tmpname()
--    os.remove(p)
--    return paths.mkdir(p .. '/a/b'), paths.rmall(p, 'yes') --> true, true
function paths.mkdir(path)
   if paths.dirp(expect('mkdir', path)) then return true end
   local above = paths.dirname(path)
   if above ~= path and not paths.dirp(above) then
      local ok, why = paths.mkdir(above)
      if not ok then return nil, why end
   end
   if C.dpt_folder_make(path) ~= 0 then return nil, ffi.string(C.dpt_message()) end
   return true
end

--- Removes an empty folder.
-- @function paths.rmdir
-- @as paths
-- @param path string: of the folder
-- @return true, or nil and a reason
-- @usage local p = os.tmpname()
--    os.remove(p)
--    paths.mkdir(p)
--    return paths.rmdir(p), paths.dirp(p) --> true, false
function paths.rmdir(path)
   if C.dpt_folder_remove(expect('rmdir', path)) ~= 0 then
      return nil, ffi.string(C.dpt_message())
   end
   return true
end

--- Removes a file, or a folder with all its contents.
-- @function paths.rmall
-- @as paths
-- @param path string: of the file or folder
-- @param sure string: must be 'yes'
-- @return true, or nil and a reason
-- @usage local p = os.tmpname() return paths.rmall(p, 'yes'), paths.filep(p) --> true, false
function paths.rmall(path, sure)
   if sure ~= 'yes' then return nil, "paths.rmall: second argument is not 'yes'" end
   if not paths.dirp(path) then return os.remove(path) end
   for name in paths.files(path) do
      if name ~= '.' and name ~= '..' then
         local ok, why = paths.rmall(path .. '/' .. name, sure)
         if not ok then return nil, why end
      end
   end
   return paths.rmdir(path)
end

--- Creates an empty temporary file and returns its name.
-- @function paths.tmpname
-- @as paths
-- @return a string: its path
-- @usage local p = paths.tmpname() return paths.filep(p), os.remove(p) --> true, true
function paths.tmpname() return os.tmpname() end

--- Returns the path of the calling file, or of another file in its folder.
-- @function paths.thisfile
-- @as paths
-- @param name? string: the other file's name
-- @param level? number: stack level (2, the caller)
-- @return a string; nil if the caller is not in a file
-- @usage paths.thisfile('other.lua'):match '[^/]*$' --> other.lua
function paths.thisfile(name, level)
   local info = type(level or 2) == 'number' and debug.getinfo(level or 2, 'S')
   if not info then
      dptffi.fail("paths.thisfile: argument 'level' is %s, wanted a stack level",
         tostring(level))
   end
   local source = info.source
   local path = source:match('^@(.*)$')
   path = path and paths.concat(path)
   if name == nil then return path end
   return path and paths.concat(paths.dirname(path), name) or name
end

--- Runs a Lua file whose path is relative to the calling file.
-- @function paths.dofile
-- @as paths
-- @param name string: of the file
-- @param level? number: stack level (2, the caller)
-- @return the results of the file
-- @usage local p = os.tmpname()
--    local f = io.open(p, 'w')
--    f:write 'return 7'
--    f:close()
--    local v = paths.dofile(p)
--    os.remove(p)
--    return v --> 7
function paths.dofile(name, level)
   local path = paths.thisfile(nil, (tonumber(level or 2) or -1) + 1)
   expect('dofile', name)
   return dofile(path and paths.concat(paths.dirname(path), name) or name)
end

--- Returns the path of the first of the programs found in PATH, or nil.
-- @function paths.findprogram
-- @as paths
-- @param ... string: names of programs
-- @return a path, or nil
-- @usage local find = paths.findprogram
--    return paths.basename(find('nosuchprogram', 'sh')), find 'nosuchprogram' --> sh, nil
function paths.findprogram(...)
   for i = 1, select('#', ...) do
      for folder in (os.getenv 'PATH' or '.'):gmatch('[^:]+') do
         local path = folder .. '/' .. expect('findprogram', (select(i, ...)))
         if paths.filep(path) then return paths.concat(path) end
      end
   end
   return nil
end

--- Returns the folder of the running program.
-- @function paths.execdir
-- @as paths
-- @return a string
-- @usage paths.execdir() -- /usr/bin, say
function paths.execdir()
   local first = 0
   for i in pairs(arg or {}) do first = math.min(first, tonumber(i) or 0) end
   local program = arg and arg[first] or 'luajit'
   if not program:find '/' then program = paths.findprogram(program) or program end
   return paths.dirname(paths.concat(program))
end

--- Returns nil: only Windows has a registry.
-- @function paths.getregistryvalue
-- @as paths
-- @return nil
-- @usage paths.getregistryvalue() --> nil
function paths.getregistryvalue() return nil end

--- Lua's require.
-- @function paths.require
-- @as paths
-- @param name string: a module
-- @return the module
-- @usage paths.require('paths').basename '/data/train.t7' --> train.t7
paths.require = require

--- Runs a command and returns its output.
-- @function paths.execute
-- @as paths
-- @param command string: for the shell
-- @return a string
-- @usage paths.execute 'printf abc' --> abc
function paths.execute(command)
   local pipe = assert(io.popen(expect('execute', command)))
   local text = pipe:read '*a'
   pipe:close()
   return text
end

--- Returns the names of the operating system, the host and the processor architecture.
-- @function paths.uname
-- @as paths
-- @return three strings, such as 'Linux', 'host', 'x86_64'
-- @usage paths.uname() -- Linux, host and x86_64, say
function paths.uname()
   return paths.execute 'uname -s; uname -n; uname -m':match '(.*)\n(.*)\n(.*)\n'
end

--- Returns true on Windows; here always false.
-- @function paths.is_win
-- @as paths
-- @return false
-- @usage paths.is_win() --> false
function paths.is_win() return false end

--- Returns true on macOS.
-- @function paths.is_mac
-- @as paths
-- @return a boolean
-- @usage paths.is_mac() -- false on Linux
function paths.is_mac() return jit.os == 'OSX' end

--- Tags shared by the reference entries of paths.
-- @pattern paths
-- @within paths
-- @follows Torch7's package paths
-- @raise if an argument is not a string; other failures are returned, not raised

return paths
