--- dpt.distributed.pack: packs tensors into contiguous ones that are sent to other ranks.
--
-- Invariant: values packed with the same types and sizes have the same flat tensors on all ranks:
-- one for a tensor; for a list, one for each type and device, in order of first occurrence. The
-- i-th part of a flat tensor has the i-th part of each of its tensors. A contiguous tensor is its
-- own flat tensor. layout is a hash of the sizes of several tensors' parts, which ranks compare.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local fail = dptffi.fail

local pack = {}

local Pack = {}
Pack.__index = Pack

-- Calls f(view of a tensor, view of the flat tensor) for each tensor; both are (parts, elements of
-- a part).
local function each(self, f)
   local first = 1
   for _, t in ipairs(self.list) do
      local count = t:nElement() / self.parts
      if count > 0 then
         local there = self.flat:view(self.parts, -1):narrow(2, first, count)
         f(t, there)
      end
      first = first + count
   end
end

--- Copies the tensors to the flat tensor.
function Pack:load()
   if self.own then return end
   each(self, function(t, there) there:copy(t:contiguous():view(self.parts, -1)) end)
end

--- Copies the flat tensor to the tensors.
function Pack:store()
   if self.own then return end
   each(self, function(t, there) t:copy(there:contiguous():viewAs(t)) end)
end

local function make(fn, list, parts)
   local count, layout = 0, 0
   for _, t in ipairs(list) do
      if t:nElement() % parts ~= 0 then
         fail('%s: got %d elements, wanted a part for each of %d ranks', fn, t:nElement(), parts)
      end
      count = count + t:nElement()
      layout = (layout * 65599 + t:nElement() / parts + 1) % 2 ^ 32
   end
   local first = list[1]
   if #list == 1 and first:isContiguous() then
      return setmetatable({flat = first, own = true, list = list, parts = parts, layout = 0}, Pack)
   end
   local flat = cutorch.withDeviceOf(first, first.new, count)
   if #list < 2 then layout = 0 end
   return setmetatable({flat = flat, list = list, parts = parts, layout = layout}, Pack)
end

--- Returns a list of packs for a tensor or a list of tensors.
-- @param parts number of parts of each tensor
function pack.open(fn, value, parts)
   if core.isTensor(value) then return {make(fn, {value}, parts)} end
   if torch.type(value) ~= 'table' or (#value == 0 and next(value) ~= nil) then
      fail('%s: got %s, wanted a tensor or a list of tensors', fn, torch.type(value))
   end
   local kinds, packs = {}, {}
   for i, t in ipairs(value) do
      if not core.isTensor(t) then
         fail('%s: entry %d is of type %s, wanted a tensor', fn, i, torch.type(t))
      end
      local kind = t:type() .. (t.getDevice and t:getDevice() or '')
      if not kinds[kind] then
         kinds[kind] = {}
         packs[#packs + 1] = kinds[kind]
      end
      table.insert(kinds[kind], t)
   end
   for i, list in ipairs(packs) do packs[i] = make(fn, list, parts) end
   return packs
end

return pack
