--- dpt.parallel.split.check_join: whether outputs can be joined along another dimension than that
-- along which the input was cut.
--
-- Invariant: they can if each has the rows of its part there and, unless a module has said so, not
-- where the input had them, too.
local fail = require('dpt.ffi').fail
local torch = require 'dpt.tensor'

--- Raises if outputs would be joined in another order than one device's.
-- @param name of the owner's class
-- @param split how the input was cut, joined: along what outputs are joined; other than two numbers
-- are not looked at
-- @param says whether a module has said along what
-- @param used how many replicas got rows
-- @param before list of the rows before each replica's first
-- @param inputs, outputs of the replicas
return function(name, split, joined, says, used, before, inputs, outputs)
   if not tonumber(split) or not tonumber(joined) or split == joined then return end
   for i = 1, used do
      local input, output, rows = inputs[i], outputs[i], before[i + 1] - before[i]
      if rows > 0 and torch.isTensor(output) and output:dim() >= joined then
         local both = not says and torch.isTensor(input) and input:dim() == output:dim()
            and output:size(split) == rows
         if output:size(joined) ~= rows or both then
            fail('%s: the input was cut along dimension %d and outputs would be joined along'
               .. ' dimension %d, but for %d of it that of replica %d is of size %s: a module says'
               .. ' by outputSplit along what outputs are joined', name, split, joined, rows, i,
               table.concat(output:size():totable(), 'x'))
         end
      end
   end
end
