-- dpt.file on files written by the original Torch7: they load, and saving them again gives the same
-- content. (spec/golden's t7_read and nn_models compare the values.)
local dpt = require 'dpt'
local torch = dpt.torch
local bytesOf = require 'spec.support.read'
local folder = (debug.getinfo(1, 'S').source:match '^@(.*)/[^/]*$') .. '/../golden/t7/'

local classes = {}
if not torch.getmetatable 'golden.Fixture' then torch.class('golden.Fixture', classes) end

-- Returns true if two trees are alike: values, classes, sharing, elements of tensors and their
-- positions in storages.
local function alike(a, b, seen)
   if torch.type(a) ~= torch.type(b) then return false end
   if type(a) ~= 'table' and type(a) ~= 'userdata' then return a == b or a ~= a and b ~= b end
   if seen[a] then return rawequal(seen[a], b) end
   seen[a] = b
   if torch.isStorage(a) then
      local before = seen[torch.pointer(a)]
      seen[torch.pointer(a)] = torch.pointer(b)
      return (not before or before == torch.pointer(b)) and tostring(a) == tostring(b)
   elseif torch.isTensor(a) then
      return a:isSameSizeAs(b) and tostring(a:stride()) == tostring(b:stride())
         and a:storageOffset() == b:storageOffset()
         and (a:storage() == nil and b:storage() == nil or alike(a:storage(), b:storage(), seen))
   end
   local n = 0
   for k, v in pairs(a) do
      n = n + 1
      if type(k) ~= 'table' and not alike(v, b[k], seen) then return false end
   end
   for _ in pairs(b) do n = n - 1 end
   return n == 0
end

describe('Files of Torch7 #recorded', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   for _, place in ipairs{'', 'models/'} do
      for _, name in ipairs(dpt.paths.dir(folder .. place)) do
         if name:find '%.t7$' then
            local mode = name:find 'ascii' and 'ascii' or name:find '^b32' and 'b32' or 'binary'
            local referenced = not name:find 'unreferenced'
            it('are loaded and saved unchanged: ' .. place .. name, function()
               local object = torch.load(folder .. place .. name, mode, referenced)
               torch.save(path, object, mode, referenced)
               local before, after = bytesOf(folder .. place .. name), bytesOf(path)
               -- the order of table entries is unspecified
               if not name:find '^holes' and not name:find '^nested' and not name:find '^object'
                  and place == '' then
                  assert.equal(after, before:sub(1, #after))
                  assert.is_true(#after == #before or not referenced)
               end
               local again = torch.load(path, mode, referenced)
               assert.is_true(not referenced or alike(object, again, {}))
            end)
         end
      end
   end

   it('store each object separately if they are unreferenced', function()
      local f = torch.DiskFile(folder .. 'unreferenced_binary.t7'):binary():referenced(false)
      assert.is_false(f:isReferenced())
      local list = f:readObject()
      list[1]:fill(7)
      assert.equal(1, list[2][1])
      assert.equal('second', f:readObject())
      f:close()
   end)
end)
