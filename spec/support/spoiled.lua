--- Corrupts files: changes bytes of valid files.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local elements = require 'spec.support.elements'
local ffi = require 'ffi'
local bytesOf = require 'spec.support.read'
local folder = (debug.getinfo(1, 'S').source:match '^@(.*)/[^/]*$') .. '/../golden/t7/'

local M = {}

--- Returns files to start from: Torch7's, and files written by dpt.
-- @return a list of {bytes, 'binary', 'b32' or 'ascii'}
function M.fixtures()
   local list = {}
   for _, place in ipairs{'', 'models/'} do
      for _, name in ipairs(dpt.paths.dir(folder .. place)) do
         if name:find '%.t7$' then
            list[#list + 1] = {bytesOf(folder .. place .. name),
               name:find 'ascii' and 'ascii' or name:find '^b32' and 'b32' or 'binary'}
         end
      end
   end
   local n = 1
   local own = {{f = function() n = n + 1 return n end, x = torch.ones(3)},
      nn.DataParallelTable(1, true):add(nn.Sequential():add(nn.Linear(3, 2)):add(
         nn.BatchNormalization(2)):cuda(), {1, 2}),
      {torch.CudaTensor(3):fill(1), torch.CudaLongTensor(2):fill(1), torch.CudaStorage(2)},
      {torch.FloatTensor(1, 1):fill(1):expand(4, 3)}}
   for _, name in ipairs(elements.reduced) do
      own[#own + 1] = {torch[name .. 'Tensor'](3, 2):fill(1):t(),
         torch[elements.onDevice(name) .. 'Tensor'](2):fill(1)}
   end
   for _, object in ipairs(own) do
      for _, mode in ipairs{'binary', 'ascii'} do
         list[#list + 1] = {torch.serialize(object, mode), mode}
      end
   end
   return list
end

local SIZES = {0, 1, -1, 2, 3, 255, 2 ^ 31 - 1, -2 ^ 31, 2 ^ 32, 2 ^ 40, 2 ^ 53, -2 ^ 62, 2 ^ 62}

local function integer(random, width)
   local slot = ffi.new('int64_t[1]', SIZES[random(#SIZES)])
   return ffi.string(slot, width)
end

-- Ways to corrupt bytes: f(random, bytes, at, other) returns changed bytes.
local ways = {
   function(_, bytes, at) return bytes:sub(1, at) end,
   function(random, bytes, at)
      return bytes:sub(1, at - 1) .. string.char(random(256) - 1) .. bytes:sub(at + 1)
   end,
   function(random, bytes, at)
      local c = bit.bxor(bytes:byte(at), bit.lshift(1, random(8) - 1))
      return bytes:sub(1, at - 1) .. string.char(c) .. bytes:sub(at + 1)
   end,
   function(random, bytes, at) return bytes:sub(1, at - 1) .. integer(random, 4)
      .. bytes:sub(at + 4) end,
   function(random, bytes, at) return bytes:sub(1, at - 1) .. integer(random, 8)
      .. bytes:sub(at + 8) end,
   function(random, bytes, at) return bytes:sub(1, at - 1) .. bytes:sub(at + random(16)) end,
   function(random, bytes, at) return bytes:sub(1, at) .. bytes:sub(math.max(1,
      at - random(64))) end,
   function(random, bytes, at, other)
      local from = random(#other)
      return bytes:sub(1, at) .. other:sub(from, from + random(64)) .. bytes:sub(at + 1)
   end,
   function(random, bytes, at) -- another number, in text
      local from, to = bytes:find('%-?%d+', at)
      if not from then return bytes:sub(1, at) end
      return bytes:sub(1, from - 1) .. ('%.0f'):format(SIZES[random(#SIZES)]) .. bytes:sub(to + 1)
   end,
}

--- Reads every element of every tensor and storage in a value.
function M.touch(value, seen)
   seen = seen or {}
   if type(value) == 'userdata' then
      if torch.isStorage(value) then return #tostring(value) end
      if torch.isTensor(value) and value:nElement() > 0 and value:nElement() < 1e5 then
         local copy = value:double():clone()
         return #tostring(copy) + #copy:totable()
      end
   elseif type(value) == 'table' and not seen[value] then
      seen[value] = true
      for k, v in next, value do
         M.touch(k, seen)
         M.touch(v, seen)
      end
   end
end

--- Returns a file of the list, corrupted at up to three places.
-- @param random random(n): an integer from 1 to n
-- @return its bytes and its kind
function M.one(random, list)
   local bytes, mode = unpack(list[random(#list)])
   for _ = 1, random(3) do
      if #bytes > 0 then
         bytes = ways[random(#ways)](random, bytes, random(#bytes), list[random(#list)][1])
      end
   end
   if random(50) == 1 then mode = mode == 'ascii' and 'binary' or 'ascii' end
   return bytes, mode
end

--- Opens bytes of that mode for reading, as scripts do.
-- @param path of a file to write them to; nil: reads from memory
function M.open(bytes, mode, path)
   local file
   if path then
      local out = assert(io.open(path, 'wb'))
      out:write(bytes)
      out:close()
      file = torch.DiskFile(path)
   else
      file = torch.MemoryFile(torch.CharStorage():string(bytes .. '\0'), 'r')
      file:allowFunctions 'skip'
   end
   file[mode == 'ascii' and 'ascii' or 'binary'](file)
   if mode == 'b32' then file:longSize(4) end
   return file
end

return M
