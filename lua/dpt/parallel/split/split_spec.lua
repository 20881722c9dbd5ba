--- dpt.parallel.split.split_spec: split specs, which define how each entry of a table of inputs is
-- split among the replicas.
--
-- Invariant: a split spec (a network's field splitSpec) is a dimension (tensors are split along
-- it), 'replicate' (every replica gets the whole value), 'list' (a Lua list or a vector with an
-- entry per row; replicas get lists), a function(value, devices) that returns a list with one value
-- per device, or a table of split specs for the entries of a table. It applies to everything inside
-- its entry. Entries without one are split along the network's dimension.
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local splitSpec = {}

--- Returns the split spec of an entry of a value whose split spec is `how`.
function splitSpec.at(how, key)
   if type(how) == 'table' then return how[key] end
   return how
end

--- Raises unless `how` is a valid split spec for value.
-- @param path name of the value in errors
function splitSpec.check(how, value, path)
   local kind = type(how)
   if kind == 'function' or how == 'replicate' or how == 'list' then return end
   if kind == 'number' and how % 1 == 0 and how >= 1 then return end
   if kind == 'table' then
      if torch.type(value) == 'table' then return end
      fail('%s is a %s, its split spec a table: one for each entry of a table', path,
         torch.type(value))
   end
   local got = torch.type(how)
   if kind == 'number' or kind == 'boolean' then got = tostring(how) end
   if kind == 'string' then got = "'" .. how .. "'" end
   if how == 'function' then got = got .. ' (files hold none: set it again)' end
   fail("%s: invalid split spec, wanted a dimension, 'replicate', 'list', a function or a"
      .. ' table of these, got %s', path, got)
end

--- Returns the list of values that a user's function returns for a value.
function splitSpec.parts(how, value, devices, path)
   local parts = how(value, devices)
   if type(parts) ~= 'table' then
      fail('%s: the function of its split spec must return a list with a value for each'
         .. ' device, got a %s', path, torch.type(parts))
   end
   return parts
end

--- Returns a split spec as files store it, with the string 'function' for a function.
function splitSpec.saved(how)
   if type(how) == 'function' then return 'function' end
   if type(how) ~= 'table' then return how end
   local copy = {}
   for key, value in pairs(how) do copy[key] = splitSpec.saved(value) end
   return copy
end

return splitSpec
