--- dpt.nn.broadcast: broadcasts parameters over the batch of an input or over dimensions of size 1.
--
-- Invariant: a parameter with as many elements as the input is applied element by element. A
-- parameter with as many dimensions as the input is expanded in its dimensions of size 1. Otherwise
-- the input is a batch, and each of its rows has as many elements as the parameter.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

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

--- Adds scale * t to the gradient, where t has the input's sizes and is summed over the dimensions
-- along which the parameter is broadcast.
function M.accumulate(gradient, scale, t)
   if t:nElement() == gradient:nElement() then
      gradient:add(scale, t)
   elseif t:dim() == gradient:dim() then
      for d = 1, t:dim() do
         if gradient:size(d) == 1 and t:size(d) ~= 1 then t = torch.sum(t, d) end
      end
      gradient:add(scale, t)
   else
      gradient:add(scale, nn.utils.contiguousView(nil, t, t:size(1), -1):sum(1))
   end
end

return M
