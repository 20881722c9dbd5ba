--- dpt.nn.rotary: rotates pairs of features by angles that grow with the position.
--
-- Invariant: pair i of D / 2, from 0, at position p, from 0, is rotated by p / base^(2 i / D). The
-- tables of cosines and sines grow by doubling; they belong to an object's field rotations_.
-- Reduced types are rotated as floats and rounded once.

local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'

local M = {}

-- Returns tables of cosines and sines, at least `positions` x `half`, of the type of x.
local function tablesFor(self, x, base, positions, half)
   local tables = self.rotations_
   if not tables or torch.type(tables[1]) ~= torch.type(x) or tables[1]:size(1) < positions
      or tables[1]:size(2) ~= half or tables.base ~= base then
      local rows = 64
      while rows < positions do rows = rows * 2 end
      local rates = torch.range(0, half - 1):double():mul(-math.log(base) / half):exp()
      local angles = torch.ger(torch.range(0, rows - 1):double(), rates)
      tables = {base = base, x.new(rows, half):copy(torch.cos(angles)),
         x.new(rows, half):copy(torch.sin(angles))}
      self.rotations_ = tables
   end
   return tables[1], tables[2]
end

--- Rotates the features of x, ... x L x D, in place.
-- @param self object: holds the tables
-- @param first position of the first row, from 0
-- @param interleaved true: features 2i and 2i + 1 are a pair; false: features i and i + D / 2
-- @param sign -1: rotates back
function M.rotate(self, x, base, first, interleaved, sign)
   if x:nElement() == 0 then return end
   local d = x:dim()
   local rows, half = x:size(d - 1), x:size(d) / 2
   local result = x
   x = x:type(core.tensorNames[core.computeKind(x.kind_)]) -- x itself unless its type is reduced
   local cosines, sines = tablesFor(self, x, base, first + rows, half)
   local a, b
   if interleaved then
      local pairs_ = x:unfold(d, 2, 2)
      a, b = pairs_:select(d + 1, 1), pairs_:select(d + 1, 2)
   else
      a, b = x:narrow(d, 1, half), x:narrow(d, half + 1, half)
   end
   local cosine, sine = torch.broadcast(cosines:narrow(1, first + 1, rows),
      sines:narrow(1, first + 1, rows), a)
   local before = a:clone()
   a:cmul(cosine):addcmul(-sign, b, sine)
   b:cmul(cosine):addcmul(sign, before, sine)
   if not rawequal(x, result) then result:copy(x) end
end

return M
