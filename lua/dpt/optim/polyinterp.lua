--- optim.polyinterp: finds the minimum of the polynomial through points with slopes.
-- Invariant: the result is within the bounds. Two points without bounds have a closed form.
-- Otherwise the polynomial's values at the bounds, at the points and at its stationary points are
-- compared, as in Torch7, so that lswolfe takes the same steps.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local SMALL = 1e-12 -- smaller coefficients count as 0

local function isRow(row)
   return type(row) == 'table' and tonumber(row[1]) and tonumber(row[2]) and tonumber(row[3])
end

local function check(points)
   if torch.isTensor(points) then points = points:totable() end
   local good = type(points) == 'table' and #points > 1
   for _, row in ipairs(good and points or {}) do good = good and isRow(row) end
   if not good then
      fail('optim.polyinterp: the points are %s, wanted rows {x, value, slope}, two or more',
         type(points) == 'table' and 'a list of ' .. #points or 'a ' .. type(points))
   end
   return points
end

-- Returns the minimum of the cubic through two points, between them.
local function closed(a, b)
   if a[1] > b[1] then a, b = b, a end
   local d1 = a[3] + b[3] - 3 * (a[2] - b[2]) / (a[1] - b[1])
   local d2 = math.sqrt(d1 * d1 - a[3] * b[3])
   local t = b[1] - (b[1] - a[1]) * ((b[3] + d2 - d1) / (b[3] - a[3] + 2 * d2))
   if t ~= t then return (a[1] + b[1]) / 2 end -- flat, or both x are equal
   return math.min(math.max(t, a[1]), b[1])
end

-- Returns the coefficients, highest power first; nil if there are none or they are not finite.
local function fit(points)
   local n = #points
   local rows, values = torch.DoubleTensor(2 * n, 2 * n), torch.DoubleTensor(2 * n, 1)
   for i, point in ipairs(points) do
      for j = 1, 2 * n do
         local power = 2 * n - j
         rows[i][j] = point[1] ^ power
         rows[n + i][j] = power == 0 and 0 or power * point[1] ^ (power - 1)
      end
      values[i][1], values[n + i][1] = point[2], point[3]
   end
   local ok, solution = pcall(torch.gels, values, rows)
   local list = ok and solution:view(-1):totable() or {}
   for i, c in ipairs(list) do
      if c - c ~= 0 then return end
      if math.abs(c) <= SMALL then list[i] = 0 end
   end
   return ok and list or nil
end

-- Returns the real roots of a polynomial.
local function realRoots(coefficients)
   local list, roots = {}, {}
   for _, c in ipairs(coefficients) do
      if math.abs(c) < SMALL then c = 0 end
      if #list > 0 or c ~= 0 then list[#list + 1] = c end
   end
   local zeros = 0
   while list[1] and list[#list] == 0 do
      list[#list] = nil
      zeros = zeros + 1
   end
   local n = #list - 1
   if n == 1 then
      roots[1] = -list[2] / list[1]
   elseif n > 1 then
      local companion = torch.DoubleTensor(n, n):zero()
      for i = 1, n do
         companion[1][i] = -list[i + 1] / list[1]
         if i > 1 then companion[i][i - 1] = 1 end
      end
      for _, root in ipairs(torch.eig(companion, 'N'):totable()) do
         if root[2] == 0 then roots[#roots + 1] = root[1] end
      end
   end
   for _ = 1, n >= 0 and zeros or 0 do roots[#roots + 1] = 0 end
   return roots
end

local function slopesOf(coefficients)
   local list, order = {}, #coefficients - 1
   for i = 1, order do list[i] = coefficients[i] * (order - i + 1) end
   return list
end

local function valueAt(coefficients, x)
   local sum = 0
   for i, c in ipairs(coefficients) do sum = sum + c * x ^ (#coefficients - i) end
   return sum
end

--- Returns the minimum of the polynomial through points with slopes.
-- @function optim.polyinterp
-- @as optimtool
-- @param points tensor: N x 3, N at least 2: rows of x, value, slope; or such a table
-- @param low? number: lower bound of the result (the least x)
-- @param high? number: upper bound of the result (the largest x)
-- @return a number; and its value, unless there are two points and no bounds
-- @usage optim.polyinterp{{0, 1, -2}, {2, 1, 2}} --> 1
return function(points, low, high)
   points = check(points)
   if #points == 2 and not low and not high then return closed(points[1], points[2]) end
   local places = {}
   for i, point in ipairs(points) do places[i] = point[1] end
   low, high = low or math.min(unpack(places)), high or math.max(unpack(places))
   local coefficients = fit(points)
   local least, where = math.huge, (low + high) / 2
   if not coefficients then return where, least end
   local candidates = {low, high, unpack(places)}
   for _, root in ipairs(realRoots(slopesOf(coefficients))) do
      candidates[#candidates + 1] = root
   end
   for _, x in ipairs(candidates) do
      local value = valueAt(coefficients, x)
      if x >= low and x <= high and value < least then least, where = value, x end
   end
   return where, least
end
