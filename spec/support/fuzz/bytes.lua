--- Feeds random and corrupted bytes to everything that dpt reads: files of objects (binary, with
-- 32-bit longs, ascii), numbers and words in files, states of generators, storages over files,
-- serialized objects.
--
-- Invariant: a line contains its seed, which alone determines its bytes.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local newRandom = require 'spec.support.fuzz.random'
local spoiled = require 'spec.support.spoiled'

local list

local function write(bytes)
   local out = assert(io.open('bytes', 'wb'))
   out:write(bytes)
   out:close()
end

local function noise(random, most)
   local bytes = {}
   for i = 1, random(most) - 1 do bytes[i] = string.char(random(4) == 1 and random(256) - 1
      or ('0123456789 -+.eEnaif\n\t'):byte(random(22))) end
   return table.concat(bytes)
end

local function bytesOf(random)
   list = list or spoiled.fixtures()
   if random(4) == 1 then return noise(random, 200), random{'ascii', 'binary'} end
   return spoiled.one(random, list)
end

local words = require('spec.support.elements').all

local M = {offers = {}}

--- Reads objects from a file, in memory or on disk.
function M.offers.object(seed)
   local random = newRandom(seed)
   local bytes, mode = bytesOf(random)
   local file = spoiled.open(bytes, mode, random() and 'bytes' or nil)
   if random(8) == 1 then file:referenced(false) end
   for _ = 1, random(2) do spoiled.touch(file:readObject()) end
   file:close()
end

--- Calls the functions that read a whole object.
function M.offers.whole(seed)
   local random = newRandom(seed)
   local bytes, mode = bytesOf(random)
   local way = random(4)
   -- torch.deserialize loads functions: LuaJIT runs any bytecode, and a corrupted one may crash it
   if bytes:find('\27LJ', 1, true) then way = 2 end
   if way == 1 then
      spoiled.touch(torch.deserialize(bytes, mode))
   elseif way == 2 then
      write(bytes)
      spoiled.touch(torch.load('bytes', mode))
   elseif way == 3 then
      spoiled.touch(torch.deserializeFromStorage(torch.CharStorage():string(bytes)))
   else
      write(bytes)
      local storage = torch[random(words) .. 'Storage']('bytes', random(), random(100))
      spoiled.touch(storage)
   end
end

--- Reads numbers and words of a file, and seeks in it.
function M.offers.numbers(seed)
   local random = newRandom(seed)
   local bytes = random() and noise(random, 400) or bytesOf(random)
   local file = torch.MemoryFile(torch.CharStorage():string(bytes .. '\0'), 'r')
   if random() then
      write(bytes)
      file = torch.DiskFile('bytes')
   end
   file[random{'ascii', 'binary'}](file)
   if random() then file:quiet() end
   if random(4) == 1 then file[random{'bigEndianEncoding', 'littleEndianEncoding'}](file) end
   if random(4) == 1 then file:longSize(random{0, 4, 8}) end
   for _ = 1, random(8) do
      pcall(function()
         local way = random(6)
         if way == 1 then file:seek(random(500))
         elseif way == 2 then file:readString(random{'*a', '*l'})
         elseif way == 3 then file:seekEnd()
         else
            local value = file['read' .. random(words)](file, random() and random(60) - 1 or nil)
            spoiled.touch(value)
         end
      end)
   end
   file:close()
end

--- Restores states of generators.
function M.offers.state(seed)
   local random = newRandom(seed)
   local state = random() and torch.getRNGState() or cutorch and cutorch.getRNGState()
      or torch.getRNGState()
   for _ = 1, random(20) do state[random(state:nElement())] = random(256) - 1 end
   if random(4) == 1 then state = torch.ByteTensor(random(6000) - 1):random(0, 255) end
   if random(3) == 1 and cutorch then
      cutorch.setRNGState(state)
      torch.CudaTensor(100):normal():sum()
   elseif random() then
      torch.setRNGState(torch.Generator(), state)
   else
      torch.setRNGState(state)
   end
   for _ = 1, 3 do
      torch.random()
      torch.normal()
      torch.DoubleTensor(700):normal()
      torch.randperm(5)
   end
end

local kinds = {'object', 'object', 'object', 'whole', 'whole', 'numbers', 'state'}

function M.line(random)
   return ('%s(%d)'):format(random(kinds), random(2 ^ 30))
end

return M
