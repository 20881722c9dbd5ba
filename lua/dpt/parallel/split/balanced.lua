--- dpt.parallel.split.balanced: cuts a batch into parts of nearly equal size, one per replica.
--
-- Invariant: sizes differ by at most one row, and the larger parts come first (9 rows in 4 parts:
-- 3, 2, 2, 2). With fewer rows than parts, the last parts are empty. The parts in order are the
-- batch.

--- Returns the rows of one part.
-- @param rows number of rows of the batch
-- @param part number of the part, from 1
-- @param parts number of parts
-- @return the part's first row (from 1) and its number of rows
return function(rows, part, parts)
   local less, more = math.floor(rows / parts), rows % parts
   return (part - 1) * less + math.min(part - 1, more) + 1, less + (part <= more and 1 or 0)
end
