--- dpt.launcher.require: `require` as in Torch7's command th.
--
-- Invariant: modules that Lua finds are loaded as before. A name that begins with a dot is a file
-- in the folder of the requiring file; any other name that is not found is a file in the current
-- folder: NAME.lua, NAME itself, NAME.th and NAME.net (objects), NAME.json, NAME.csv,
-- NAME/init.lua. Such a file is run or read at each call.
local paths = require 'dpt.util.paths'
local torch = require('dpt.class').torch
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local KINDS = {'th', 'net', 'json', 'csv'}

local function object(file) return torch.load(file) end

-- Returns the file of a name, and its reader, by extension or as Lua; nil if there is none.
local function find(name, readers)
   if paths.filep(name .. '.lua') then return name .. '.lua', dofile end
   if paths.filep(name) then return name, readers[name:match '%.(%l+)$'] or dofile end
   for _, kind in ipairs(KINDS) do
      local file = name .. '.' .. kind
      if paths.filep(file) then return file, readers[kind] end
   end
   local file = paths.concat(name, 'init.lua')
   if paths.filep(file) then return file, dofile end
end

local function isFound(name)
   return package.loaded[name] ~= nil or package.preload[name] or name:find '^dpt%.'
      or package.searchpath(name, package.path) or package.searchpath(name, package.cpath)
end

local running -- the file that is running because it was required this way

local function read(file, reader)
   local before = running
   running = file
   local ok, result = pcall(reader, file)
   running = before
   if not ok then error(result, 0) end
   return result
end

-- Returns the folder of the requiring function; a tail call leaves no frame.
local function callers()
   local source = debug.getinfo(3, 'S').source:gsub('^@', '')
   if not paths.filep(source) then source = running end
   return source and paths.dirname(source) or '.'
end

--- @param plain Lua's require
-- @return th's require
return function(plain)
   local readers = {th = object, net = object}
   function readers.csv(file) return plain 'csv'.load(file) end
   function readers.json(file)
      local stream = assert(io.open(file))
      local text = stream:read '*a'
      stream:close()
      return plain 'cjson'.decode(text)
   end

   return function(name)
      if type(name) ~= 'string' then return plain(name) end
      local file, reader
      if name:sub(1, 1) == '.' then
         local beside = paths.concat(callers(), name)
         file, reader = find(beside, readers)
         if not file then
            dptffi.fail("module '%s' not found: there is no file %s.lua, %s or %s/init.lua", name,
               beside, beside, beside)
         end
      elseif not isFound(name) then
         file, reader = find('./' .. name, readers)
      end
      if file then return read(file, reader) end
      return plain(name)
   end
end
