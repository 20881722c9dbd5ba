--- A copy of a tree of tables, objects, tensors and storages that shares nothing with the original.
-- What must stay true: what was one object in the original is one object in the copy, tensors that
-- shared a storage share one again, a storage's copy is on its device; functions are not copied.

local torch = require 'dpt.tensor'

-- A flat view of a whole storage, as a tensor like t.
local function whole(t, storage)
   return t.new():set(storage, 1, storage:size(), 1)
end

local copy

local function copyTensor(t, seen)
   local new = t.new()
   local storage = t:storage()
   if not storage or storage:size() == 0 then
      if t:dim() > 0 then new:resize(t:size()) end
      return new
   end
   local key = torch.pointer(storage)
   local known = seen.storages[key]
   if not known then -- the old storage is kept so that its address stays its own
      known = {old = storage, new = whole(t, storage):clone():storage()}
      seen.storages[key] = known
   end
   if t:dim() == 0 then return new:set(known.new, t:storageOffset(), 0) end
   return new:set(known.new, t:storageOffset(), t:size(), t:stride())
end

function copy(value, seen)
   local kind = type(value)
   if kind ~= 'table' and kind ~= 'cdata' then return value end
   local new = seen.objects[value]
   if new ~= nil then return new end
   if torch.isTensor(value) then
      new = copyTensor(value, seen)
      seen.objects[value] = new
   elseif torch.isStorage(value) then
      local key = torch.pointer(value)
      if not seen.storages[key] then
         seen.storages[key] = {old = value, new = value.new(value:size()):copy(value)}
      end
      new = seen.storages[key].new
   elseif kind == 'table' then
      new = {}
      seen.objects[value] = new
      for k, v in pairs(value) do new[copy(k, seen)] = copy(v, seen) end
      setmetatable(new, getmetatable(value))
   else
      new = value
   end
   return new
end

--- @return the copy
return function(value)
   return copy(value, {objects = {}, storages = {}})
end
