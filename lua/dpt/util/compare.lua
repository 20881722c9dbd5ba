--- dpt.util.compare: describes how two values differ, for torch.Tester.
--
-- Invariant: NaN equals NaN, and an infinity equals itself; numbers inside tables, tensors and
-- storages may differ by the tolerance; tensors of different types or sizes are not equal.
local torch = require('dpt.class').torch
local type = require('dpt.ffi').type

local difference

local function sizeOf(tensor) return table.concat(tensor:size():totable(), 'x') end

local function tensors(a, b, tolerance, ignoreSizes)
   if torch.type(a) ~= torch.type(b) then
      return ('tensor types differ: %s and %s'):format(torch.type(a), torch.type(b))
   end
   if ignoreSizes and a:nElement() ~= b:nElement() or not ignoreSizes and not a:isSameSizeAs(b) then
      return ('sizes differ: %s and %s'):format(sizeOf(a), sizeOf(b))
   end
   if a:nElement() == 0 then return nil end
   local x = a:double():contiguous():view(a:nElement())
   local y = b:double():contiguous():view(b:nElement())
   local error = (x - y):abs()
   error[x:eq(y)] = 0
   error[x:ne(x):cmul(y:ne(y))] = 0
   local worst = error:max()
   if worst ~= worst or worst > tolerance then
      return ('max(abs(a - b)) is %g, allowed is %g'):format(worst, tolerance)
   end
end

local function numbers(a, b, tolerance)
   if a == b or a ~= a and b ~= b or math.abs(a - b) <= tolerance then return nil end
   return ('%s and %s differ by more than %g'):format(a, b, tolerance)
end

local function tables(a, b, tolerance)
   for key, value in pairs(a) do
      local why = difference(value, b[key], tolerance)
      if why then return ('at [%s]: %s'):format(tostring(key), why) end
   end
   for key in pairs(b) do
      if a[key] == nil then return ('only the second has [%s]'):format(tostring(key)) end
   end
end

local function storages(a, b, tolerance)
   if a:size() ~= b:size() then return ('sizes differ: %d and %d'):format(a:size(), b:size()) end
   for i = 1, a:size() do
      local why = numbers(a[i], b[i], tolerance)
      if why then return ('at [%d]: %s'):format(i, why) end
   end
end

--- Returns nil if a and b are equal, else a text that says how they differ.
-- @param tolerance largest difference of numbers
function difference(a, b, tolerance)
   if torch.type(a) ~= torch.type(b) then
      return ('types differ: %s and %s'):format(torch.type(a), torch.type(b))
   elseif torch.isTensor(a) then
      return tensors(a, b, tolerance)
   elseif torch.isStorage(a) then
      return storages(a, b, tolerance)
   elseif type(a) == 'number' then
      return numbers(a, b, tolerance)
   elseif type(a) == 'table' and a ~= b then
      return tables(a, b, tolerance)
   elseif a ~= b then
      return ('%s is not %s'):format(tostring(a), tostring(b))
   end
end

return {difference = difference, tensors = tensors}
