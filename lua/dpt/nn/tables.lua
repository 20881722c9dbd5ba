--- dpt.nn.tables: creates connection tables for nn.SpatialConvolutionMap.
--
-- Invariant: a row is {input plane, output plane}; rows are ordered by output plane.

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

--- Connection tables for nn.SpatialConvolutionMap, with rows {input plane, output plane}.
-- @field nn.tables
-- @as author
-- @within nn convolution
-- @return a table of functions
-- @usage type(nn.tables.full) --> function
local tables = {}

--- Connects every input plane to every output plane.
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

--- Connects every output plane to nto random input planes: consecutive parts of a permutation, with
-- a new permutation when all parts are used.
-- @function nn.tables.random
-- @as author
-- @within nn convolution
-- @param nin number: input planes
-- @param nout number: output planes
-- @param nto number: input planes for each output plane
-- @return a tensor, connections x 2
-- @usage nn.tables.random(4, 3, 2):size() --> 6x2
function tables.random(nin, nout, nto)
   local parts = math.floor(nin / nto)
   if parts < 1 then
      fail("nn.tables.random: argument 'nto' is %s, wanted 1 to %d, the input planes", nto, nin)
   end
   local rows, from = {}, torch.randperm(nin):totable()
   for o = 1, nout do
      local part = (o - 1) % parts
      for k = 1, nto do rows[#rows + 1] = {from[part * nto + k], o} end
      if part == parts - 1 then from = torch.randperm(nin):totable() end
   end
   return torch.Tensor(rows)
end

return tables
