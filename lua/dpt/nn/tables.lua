--- nn.tables: connection tables for nn.SpatialConvolutionMap: rows {input plane, output plane}.
-- Invariant: rows are ordered by output plane, then by input plane.

local torch = require 'dpt.tensor'

local tables = {}

--- Every input plane to every output plane.
function tables.full(nin, nout)
   local rows = {}
   for o = 1, nout do
      for i = 1, nin do rows[#rows + 1] = {i, o} end
   end
   return torch.Tensor(rows)
end

--- Plane i to plane i.
function tables.oneToOne(n)
   local rows = {}
   for i = 1, n do rows[i] = {i, i} end
   return torch.Tensor(rows)
end

--- Every output plane from nto input planes drawn at random, all input planes used about equally.
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
