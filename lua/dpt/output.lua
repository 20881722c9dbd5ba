--- dpt.output: opens files for writing, appends text to them, replaces them.
--
-- Invariant: a failed write is an error that names the file; a replaced file is either the
-- old one or the complete new one. A pipe without a reader is an error, too: dpt_file_write and
-- dpt_file_flush block SIGPIPE. Therefore a handle that may be a pipe has an empty buffer between
-- two calls of dpt: closing, collecting or flushing it later writes nothing.
local dptffi = require 'dpt.ffi'
local ffi, C, fail, type = dptffi.ffi, dptffi.C, dptffi.fail, dptffi.type

local output = {}

local ROOM = 8192 -- for a path

local function message() return ffi.string(C.dpt_message()) end

-- Formats a reason of the system as the end of a sentence.
local function lower(why) return (why:gsub('^%u', string.lower)) end

--- Opens a file.
-- @param mode of io.open
-- @return the handle; nil and the reason
function output.open(path, mode)
   local handle, why = io.open(path, mode)
   if not handle then return nil, lower(why:sub(#path + 3)) end -- after 'path: '
   return handle
end

--- Returns true if a handle's file is not a regular file: a pipe, a terminal or another device.
function output.isDevice(handle) return C.dpt_file_left(handle) < 0 end

--- Writes n bytes, or a whole string, to a handle.
-- @return true; nil and the reason
function output.write(handle, data, n)
   if C.dpt_file_write(handle, data, n or #data) == 0 then return true end
   return nil, message()
end

--- Flushes a handle's buffer to the system.
-- @return true; nil and the reason
function output.flush(handle)
   if C.dpt_file_flush(handle) == 0 then return true end
   return nil, message()
end

--- Closes a handle; a full disk may be reported only here.
-- @return true; nil and the reason
function output.close(handle)
   local ok, why = output.flush(handle)
   local closed, late = handle:close()
   if not ok then return nil, why end
   return closed, late and lower(late)
end

local function cannot(fn, path, why, note)
   return fail('%s: cannot write %s: %s%s', fn, path, why, note or '')
end

--- Opens a file for output.add, in mode 'w' or 'a'.
-- @return the handle
function output.log(fn, path, mode)
   local handle, why = output.open(path, mode)
   if not handle then cannot(fn, path, why) end
   handle:setvbuf 'no'
   return handle
end

--- Appends text to a file and flushes it.
-- @param path the file's name in messages
function output.add(fn, path, handle, text)
   local ok, why = output.write(handle, text)
   if ok then ok, why = output.flush(handle) end
   if not ok then cannot(fn, path, why) end
end

-- Prepares a file that can replace the one at a path.
-- @return path without links, the new file's name, its descriptor in an array (-1: none)
local function prepare(fn, path)
   local target, name, slot = ffi.new('char[?]', ROOM), ffi.new('char[?]', ROOM), ffi.new 'int[1]'
   if C.dpt_file_replacement(path, target, name, ROOM, slot) ~= 0 then
      fail('%s: %s', fn, message())
   end
   return target, name, slot
end

--- Calls put(name, note) to write the replacement of the file at a path to the file `name`: a new
-- file beside it, or the file itself if it is not a regular file. note: the end of an error
-- message.
-- @param durable true: the new file is on the disk before it replaces the old one
function output.replacing(fn, path, durable, put)
   local target, name, slot = prepare(fn, path)
   local note = slot[0] >= 0 and C.dpt_path_kind(target) == 1
      and '; the previous file is unchanged' or ''
   local ok, why = pcall(function()
      put(ffi.string(name), note)
      if slot[0] >= 0 and C.dpt_file_replace(slot[0], name, target, durable and 1 or 0) ~= 0 then
         fail('%s: %s%s', fn, message(), note)
      end
   end)
   if ok then return end
   C.dpt_file_drop(slot[0], name)
   error(why, 0)
end

--- Replaces the file at a path.
-- @param content a string, or a function that calls write(text) with each part of the file
-- @param durable as for replacing
function output.replace(fn, path, content, durable)
   output.replacing(fn, path, durable, function(name, note)
      local handle, why = output.open(name, 'wb')
      if not handle then cannot(fn, path, why, note) end
      if output.isDevice(handle) then handle:setvbuf 'no' end
      local function write(text)
         local ok, reason = output.write(handle, text)
         if not ok then cannot(fn, path, reason, note) end
      end
      if type(content) == 'string' then write(content) else content(write) end
      local closed, late = output.close(handle)
      if not closed then cannot(fn, path, late, note) end
   end)
end

--- Raises if the file at a path could not be replaced. Changes nothing.
function output.check(fn, path)
   local _, name, slot = prepare(fn, path)
   C.dpt_file_drop(slot[0], name)
end

return output
