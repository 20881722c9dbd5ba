--- Parameters that are spread over an input: over its batch, or over dimensions of size 1.
-- Invariant: a parameter of the input's dimension count is expanded dimension by dimension; one of
-- the input's element count is taken element by element; otherwise the input is a batch whose rows
-- have the parameter's element count.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local M = {}

--- The input and the parameter as views of equal sizes.
-- @param what names the module in errors
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
   fail('%s: input of size %s does not go with a parameter of size %s', what,
      table.concat(input:size():totable(), 'x'), table.concat(parameter:size():totable(), 'x'))
end

--- gradient += scale * the sum of t (sizes as the input had) over what the parameter is spread
-- over.
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
