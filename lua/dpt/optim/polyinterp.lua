--- optim.polyinterp: the minimum of the cubic through two points with slopes.
-- What must stay true: the result lies between the bounds.

--- @param points a 2x3 tensor or table: rows {place, value, slope}
-- @param low, high bounds of the result (the two places)
-- @return the place of the minimum
return function(points, low, high)
   local a, b = points[1], points[2]
   if not a or not b or (type(points) ~= 'table' and points:size(1) ~= 2) then
      error('optim.polyinterp: wants two rows {place, value, slope}', 2)
   end
   if a[1] > b[1] then a, b = b, a end
   low, high = low or a[1], high or b[1]
   local d1 = a[3] + b[3] - 3 * (a[2] - b[2]) / (a[1] - b[1])
   local square = d1 * d1 - a[3] * b[3]
   if square < 0 then return (low + high) / 2 end
   local d2 = math.sqrt(square)
   local t = b[1] - (b[1] - a[1]) * ((b[3] + d2 - d1) / (b[3] - a[3] + 2 * d2))
   return math.min(math.max(t, low), high)
end
