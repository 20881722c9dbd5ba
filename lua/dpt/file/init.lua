--- dpt.file: torch.save, torch.load, torch.serialize and torch.deserialize; loads the other files.
--
-- Invariant: torch.save replaces the file at a path atomically or not at all. torch.load runs no
-- code from the file, unless told to; torch.deserialize loads functions: never use it for untrusted
-- bytes.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local output = require 'dpt.output'
local torch = require('dpt.class').torch
local File = require 'dpt.file.File'
local DiskFile = require 'dpt.file.DiskFile'
local MemoryFile = require 'dpt.file.MemoryFile'
require 'dpt.file.PipeFile'
require 'dpt.file.numbers'
require 'dpt.file.object'
local C, fail, type = dptffi.C, dptffi.fail, dptffi.type

--- Sets a file to 'binary' (the default), 'ascii', 'b32' or 'b64' (binary, Longs of 4 or 8 bytes).
local function setMode(fn, file, mode)
   mode = mode or 'binary'
   if mode == 'ascii' then return file:ascii() end
   if mode == 'b32' then return file:binary():longSize(4) end
   if mode == 'b64' then return file:binary():longSize(8) end
   if mode ~= 'binary' then
      fail("%s: the mode is %s, wanted 'binary', 'ascii', 'b32' or 'b64'", fn, core.quote(mode))
   end
   return file:binary()
end

--- torch.save(path, object [, mode [, referenced]]): replaces the file at path once it is complete;
-- the old file remains if the process or the machine ends before that.
function torch.save(path, object, mode, referenced)
   if type(path) ~= 'string' then core.usage('torch.save', 'a path and an object', path) end
   output.replacing('torch.save', path, true, function(name, note)
      local file = DiskFile._open('torch.save', name, 'w', path, note)
      local ok, why = pcall(function()
         setMode('torch.save', file, mode):referenced(referenced ~= false):writeObject(object)
      end)
      if not ok then
         file.handle_:close()
         error(why, 0)
      end
      file:close()
   end)
end

--- torch.load(path [, mode] [, referenced] [, {functions = true, false or 'skip'}]): see
-- allowFunctions.
function torch.load(path, ...)
   if type(path) ~= 'string' then core.usage('torch.load', 'a path', path) end
   local given = {}
   for i = 1, select('#', ...) do
      local v = select(i, ...)
      local kind = type(v)
      if kind ~= 'string' and kind ~= 'boolean' and kind ~= 'table' and kind ~= 'nil' then
         core.usage('torch.load', 'a path [, mode] [, referenced] [, options]', path, ...)
      end
      given[kind] = v
   end
   local options = given.table or {}
   for name in pairs(options) do
      if name ~= 'functions' then
         fail('torch.load: there is no option %s, wanted functions', tostring(name))
      end
   end
   local file = setMode('torch.load', DiskFile._open('torch.load', path, 'r'), given.string)
   file:referenced(given.boolean ~= false):allowFunctions(options.functions)
   local ok, object = pcall(file.readObject, file)
   file:close()
   if not ok then error(object, 0) end
   return object
end
torch.saveobj, torch.loadobj = torch.save, torch.load

--- Returns the bytes of an object as a torch.CharStorage.
function torch.serializeToStorage(object, mode)
   local file = setMode('torch.serialize', torch.MemoryFile(), mode)
   file:writeObject(object)
   local storage = file:storage()
   return storage:resize(#storage - 1)
end

--- Returns the bytes of an object as a string.
function torch.serialize(object, mode)
   return torch.serializeToStorage(object, mode):string()
end

--- Returns the object in a torch.CharStorage or CharTensor. It loads functions: never use it for
-- untrusted bytes.
function torch.deserializeFromStorage(storage, mode)
   if torch.isTensor(storage) and storage.kind_ == C.DPT_I8 then
      storage = core.fresh(C.DPT_I8):resizeAs(storage):copy(storage):storage()
   end
   if not core.isStorage(storage) or storage.kind_ ~= C.DPT_I8 then
      core.usage('torch.deserializeFromStorage', 'a torch.CharStorage', storage)
   end
   local file = MemoryFile.over(storage, core.storageLength(storage), 'r')
   file.caller_, file.subject_ = 'torch.deserialize', 'the data'
   return setMode('torch.deserialize', file, mode):readObject()
end

--- Returns the object in a string. It loads functions: never use it for untrusted bytes.
function torch.deserialize(bytes, mode)
   if type(bytes) ~= 'string' then core.usage('torch.deserialize', 'a string', bytes) end
   return torch.deserializeFromStorage(torch.CharStorage():string(bytes), mode)
end

return {File = File, DiskFile = DiskFile, MemoryFile = MemoryFile}
