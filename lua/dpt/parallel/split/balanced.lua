--- dpt.parallel.split.balanced: the rows of a batch that each replica gets.
--
-- Invariant: parts differ by one row at most and the larger ones come first (9 rows in 4 parts: 3,
-- 2, 2, 2), so with fewer rows than parts the last ones get none; together, in order, the parts are
-- the batch.

--- The rows of one part.
-- @param rows rows of the batch
-- @param part which part, from 1
-- @param parts how many parts there are
-- @return its first row (from 1), its number of rows
return function(rows, part, parts)
   local less, more = math.floor(rows / parts), rows % parts
   return (part - 1) * less + math.min(part - 1, more) + 1, less + (part <= more and 1 or 0)
end
