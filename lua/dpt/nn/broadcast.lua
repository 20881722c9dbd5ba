--- dpt.nn.broadcast: broadcasts parameters over the batch of an input or over dimensions of size 1.
--
-- Invariant: a parameter with as many elements as the input is applied element by element. A
-- parameter with as many dimensions as the input is expanded in its dimensions of size 1. Otherwise
-- the input is a batch, and each of its rows has as many elements as the parameter.

local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local M = {}

--- Returns views of the input and the parameter that have equal sizes.
-- @param what name of the module in errors
function M.views(input, parameter, what)
   if input:nElement() == parameter:nElement() then
      local flat = nn.utils.contiguousView(nil, input, -1)
      return flat, nn.utils.contiguousView(nil, parameter, -1)
   elseif input:dim() == parameter:dim() then
      return input, parameter:expandAs(input)
   elseif input:nElement() == parameter:nElement() * input:size(1) then
      local rows = nn.utils.contiguousView(nil, input, input:size(1), -1)
      return rows, nn.utils.contiguousView(nil, parameter, 1, -1):expandAs(rows)
   end
   fail('%s: size mismatch: input of size %s, parameter of size %s', what,
      table.concat(input:size():totable(), 'x'), table.concat(parameter:size():totable(), 'x'))
end

-- Returns t, which has as many dimensions as the gradient, as N x C x S, where C are the gradient's
-- elements. Dimensions that are summed are moved to the front if others surround them.
local function planes(gradient, t)
   local front, kept, back, N = {}, {}, {}, 1
   for d = t:dim(), 1, -1 do
      local list = gradient:size(d) == t:size(d) and kept or #kept > 0 and front or back
      table.insert(list, 1, d)
      if list == front then N = N * t:size(d) end
   end
   local order = {}
   for _, list in ipairs{front, kept, back} do
      for _, d in ipairs(list) do order[#order + 1] = d end
   end
   return nn.utils.contiguousView(nil, t:permute(unpack(order)), N, gradient:nElement(), -1)
end

--- Adds scale * t to the gradient, where t has the input's sizes and is summed over the dimensions
-- along which the parameter is broadcast. A gradient of floats accepts a t of 16 bits.
function M.accumulate(gradient, scale, t)
   local n = gradient:nElement()
   if t:nElement() == 0 then
      return
   elseif t:nElement() == n or n == 1 then
      t = nn.utils.contiguousView(nil, t, 1, n, -1)
   elseif t:dim() == gradient:dim() then
      t = planes(gradient, t)
   else
      t = nn.utils.contiguousView(nil, t, t:size(1), -1)
   end
   lib.plane_sum(gradient, t, scale)
end

return M
