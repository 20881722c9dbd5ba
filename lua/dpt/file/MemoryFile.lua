--- dpt.file.MemoryFile: torch.MemoryFile, a file in a torch.CharStorage.
--
-- Invariant: the storage is at least one byte larger than the file; storage() shrinks it to one
-- byte more and sets that byte to 0, as in Torch7.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local File = require 'dpt.file.File'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local construct
local MemoryFile = torch.newmetatable('torch.MemoryFile', 'torch.File',
   function(...) return construct(...) end, nil, nil, torch)

--- Creates a file over the first n bytes of a torch.CharStorage.
local function over(storage, n, mode)
   local self = setmetatable({}, MemoryFile):_start(mode, 'torch.MemoryFile', 'the file')
   self.storage_, self.size_, self.at_ = storage, n, 0
   self.loadsFunctions_ = true -- unless allowFunctions says otherwise
   return self
end

--- Creates a file over the first bytes of a storage, which need not end with a 0.
-- @function torch.MemoryFile.over
-- @as file
-- @also torch.MemoryFile:over()
-- @param storage CharStorage: the bytes
-- @param n number: how many bytes
-- @param mode string: 'r', 'w' or 'rw'
-- @return the file
-- @usage torch.MemoryFile.over(torch.CharStorage():string 'abcd', 2, 'r'):readString '*a'
--    --> ab
MemoryFile.over = over

--- torch.MemoryFile([mode]): creates a new file; (storage [, mode]): a file over a
-- torch.CharStorage that ends with a 0. The mode is 'r', 'w' or 'rw' (the default).
function construct(storage, mode)
   if type(storage) == 'string' then storage, mode = nil, storage end
   mode = File.checkMode('torch.MemoryFile', mode)
   if storage == nil then return over(core.freshStorage(C.DPT_I8, 64), 0, mode) end
   if not core.isStorage(storage) or storage.kind_ ~= C.DPT_I8 then
      core.usage('torch.MemoryFile', 'a torch.CharStorage [, mode]', storage, mode)
   end
   local n = core.storageLength(storage)
   if n == 0 or storage[n] ~= 0 then
      fail("torch.MemoryFile: argument 'storage' is %s, wanted a torch.CharStorage that ends in 0",
         n == 0 and 'empty' or 'not terminated')
   end
   return over(storage, n - 1, mode)
end

local function bytes(self)
   return ffi.cast('uint8_t *', C.dpt_storage_data(self.storage_.ptr_))
end

--- Returns the number of bytes in the file; a script may have shrunk the storage.
local function size(self)
   return math.min(self.size_, core.storageLength(self.storage_))
end

function MemoryFile:_read(pointer, n)
   n = math.min(n, math.max(size(self) - self.at_, 0))
   ffi.copy(pointer, bytes(self) + self.at_, n)
   self.at_ = self.at_ + n
   return n
end

function MemoryFile:_write(data, n)
   local last, capacity = self.at_ + n, core.storageLength(self.storage_)
   if last + 1 > capacity then
      lib.storage_resize(self.storage_.ptr_, math.max(last + 1, 2 * capacity))
   end
   ffi.copy(bytes(self) + self.at_, data, n)
   self.at_, self.size_ = last, math.max(self.size_, last)
end

local slot = ffi.new 'int64_t[1]'

function MemoryFile:_readText(kind, pointer, n)
   slot[0] = self:_remaining()
   local got = tonumber(C.dpt_text_read(nil, bytes(self) + self.at_, slot, kind, pointer, n))
   self.at_ = self.at_ + tonumber(slot[0])
   return got
end

function MemoryFile:_byte()
   if self.at_ >= size(self) then return -1 end
   local byte = bytes(self)[self.at_]
   self.at_ = self.at_ + 1
   return byte
end

function MemoryFile:_unread(byte)
   if byte >= 0 then self.at_ = self.at_ - 1 end
end

function MemoryFile:_remaining() return math.max(size(self) - self.at_, 0) end
function MemoryFile:_position() return self.at_ end
function MemoryFile:_length() return size(self) end

function MemoryFile:_seek(offset)
   if offset > size(self) then
      self:_fail('has no position %.0f, it has %d bytes', offset + 1, self.size_)
   else
      self.at_ = offset
   end
end

--- Returns the bytes and a final 0, in the file's own memory.
-- @function torch.MemoryFile:storage
-- @as file
-- @return a CharStorage
-- @usage local f = torch.MemoryFile()
--    f:writeString 'ab'
--    return f:storage() --> 97x98x0
function MemoryFile:storage()
   self:_usable()
   lib.storage_resize(self.storage_.ptr_, self.size_ + 1)
   bytes(self)[self.size_] = 0
   return self.storage_
end

function MemoryFile:_close() self.storage_ = nil end

function MemoryFile:__tostring__()
   return ('torch.MemoryFile [status: %s -- mode %s%s]'):format(self.open_ and 'open' or 'closed',
      self.readable_ and 'r' or '', self.writable_ and 'w' or '')
end

return MemoryFile
