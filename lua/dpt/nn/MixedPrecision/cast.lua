--- dpt.nn.MixedPrecision.cast: converts the tensors of nested tables between float and a 16-bit
-- type.
--
-- Invariant: tensors of other types are not converted. Buffers are reused: a call overwrites the
-- tensors that the previous call with the same buffers returned.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local type = require('dpt.ffi').type

local M = {}

local function isPlain(value) return type(value) == 'table' and getmetatable(value) == nil end

-- Returns t as a tensor of another kind, in buffers[key].
local function convert(buffers, key, t, kind)
   local buffer = buffers[key]
   if not torch.isTensor(buffer) or buffer.kind_ ~= kind then
      buffer = core.newTensor(kind)
      buffers[key] = buffer
   end
   return buffer:resizeAs(t):copy(t)
end

local function below(buffers, key)
   if not isPlain(buffers[key]) then buffers[key] = {} end
   return buffers[key]
end

-- Returns the entry of a nested table, nil if there is no table.
local function entry(list, key)
   if isPlain(list) then return list[key] end
end

--- Converts the tensors of kind `from` to kind `to`.
-- @param buffers table that keeps the converted tensors
-- @param key entry of buffers for value
-- @param value tensor, or nested table
-- @param keeps true: value is not converted; a table: its entries apply to those of value
-- @return the value itself if it is a tensor of another kind, otherwise its conversion
function M.to(buffers, key, value, from, to, keeps)
   if keeps == true then
      return value
   elseif torch.isTensor(value) then
      return value.kind_ == from and convert(buffers, key, value, to) or value
   elseif not isPlain(value) then
      return value
   end
   local list, inner = {}, below(buffers, key)
   for k, v in next, value do list[k] = M.to(inner, k, v, from, to, entry(keeps, k)) end
   return list
end

--- Converts the float and 16-bit tensors of a value to the kinds of their counterparts, or to float
-- if the counterpart has another kind.
-- @param like tensor, or nested table like value
function M.like(buffers, key, value, like, float, reduced)
   if torch.isTensor(value) then
      if torch.isTensor(like) and like.kind_ == reduced then
         return M.to(buffers, key, value, float, reduced)
      end
      return M.to(buffers, key, value, reduced, float)
   elseif not isPlain(value) then
      return value
   end
   local list, inner = {}, below(buffers, key)
   for k, v in next, value do list[k] = M.like(inner, k, v, entry(like, k), float, reduced) end
   return list
end

return M
