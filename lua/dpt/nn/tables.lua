--- nn.tables: connection tables for nn.SpatialConvolutionMap: rows {input plane, output plane}.
-- Invariant: rows are ordered by output plane, then by input plane.

local torch = require 'dpt.tensor'

--- Connection tables for nn.SpatialConvolutionMap: rows {input plane, output plane}.
-- @field nn.tables
-- @as author
-- @within nn convolution
-- @return a table of functions
-- @usage type(nn.tables.full) --> function
local tables = {}

--- Every input plane to every output plane.
-- @function nn.tables.full
-- @as author
-- @within nn convolution
-- @param nin number: input planes
-- @param nout number: output planes
-- @return a tensor, connections x 2
-- @usage nn.tables.full(2, 1) --> [1 1 2 1]
function tables.full(nin, nout)
   local rows = {}
   for o = 1, nout do
      for i = 1, nin do rows[#rows + 1] = {i, o} end
   end
   return torch.Tensor(rows)
end

--- Connects plane i to plane i.
-- @function nn.tables.oneToOne
-- @as author
-- @within nn convolution
-- @param n number: planes
-- @return a tensor, n x 2
-- @usage nn.tables.oneToOne(2) --> [1 1 2 2]
function tables.oneToOne(n)
   local rows = {}
   for i = 1, n do rows[i] = {i, i} end
   return torch.Tensor(rows)
end

--- Every output plane from nto input planes drawn at random, all input planes used about equally.
-- @function nn.tables.random
-- @as author
-- @within nn convolution
-- @param nin number: input planes
-- @param nout number: output planes
-- @param nto number: input planes of each output plane
-- @return a tensor, connections x 2
-- @usage nn.tables.random(4, 3, 2):size() --> 6x2
function tables.random(nin, nout, nto)
   local rows, pool = {}, {}
   for o = 1, nout do
      local taken, skipped = {}, {}
      while #taken < math.min(nto, nin) do
         if #pool == 0 then pool = torch.randperm(nin):totable() end
         local i = table.remove(pool)
         if taken[-i] then
            skipped[#skipped + 1] = i
         else
            taken[#taken + 1], taken[-i] = i, true
         end
      end
      for _, i in ipairs(skipped) do pool[#pool + 1] = i end
      table.sort(taken)
      for _, i in ipairs(taken) do rows[#rows + 1] = {i, o} end
   end
   return torch.Tensor(rows)
end

return tables
