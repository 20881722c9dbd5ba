--- optim.polyinterp: the minimum of the cubic through two points with slopes.
-- Invariant: the result lies between the bounds.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local function isRow(row)
   return type(row) == 'table' and tonumber(row[1]) and tonumber(row[2]) and tonumber(row[3])
end

--- The minimum of the cubic through two points with slopes.
-- @function optim.polyinterp
-- @as optimtool
-- @param points tensor: 2 x 3: rows of x, value, slope; or such a table
-- @param low? number: the least result (the lesser x)
-- @param high? number: the largest result (the larger x)
-- @return a number
-- @usage optim.polyinterp{{0, 1, -2}, {2, 1, 2}} --> 1
return function(points, low, high)
   if torch.isTensor(points) then points = points:totable() end
   if type(points) ~= 'table' or #points ~= 2 or not isRow(points[1]) or not isRow(points[2]) then
      fail('optim.polyinterp: the points are %s, wanted two rows {x, value, slope}',
         type(points) == 'table' and 'a list of ' .. #points or 'a ' .. type(points))
   end
   local a, b = points[1], points[2]
   if a[1] > b[1] then a, b = b, a end
   low, high = low or a[1], high or b[1]
   local d1 = a[3] + b[3] - 3 * (a[2] - b[2]) / (a[1] - b[1])
   local square = d1 * d1 - a[3] * b[3]
   if square < 0 then return (low + high) / 2 end
   local d2 = math.sqrt(square)
   local t = b[1] - (b[1] - a[1]) * ((b[3] + d2 - d1) / (b[3] - a[3] + 2 * d2))
   if t ~= t then return (low + high) / 2 end -- flat, or one x twice
   return math.min(math.max(t, low), high)
end
