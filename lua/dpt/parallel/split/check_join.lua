--- dpt.parallel.split.check_join: checks that outputs can be joined along a different dimension
-- than the one along which the input was split.
--
-- Invariant: along the joined dimension every output must have as many rows as its part. Unless a
-- module has declared the dimension, the output must not also have them where the input has them.
local fail = require('dpt.ffi').fail
local torch = require 'dpt.tensor'

--- Raises if joined outputs could have a different order of rows than on one device.
-- @param name class name of the owner
-- @param split how the input was split; joined: how outputs are joined. Unless both are numbers,
-- nothing is checked
-- @param says true if a module has declared the dimension of its output
-- @param used number of replicas that got rows
-- @param before list: number of rows before each replica's part
-- @param inputs, outputs lists, one entry per replica
return function(name, split, joined, says, used, before, inputs, outputs)
   if not tonumber(split) or not tonumber(joined) or split == joined then return end
   for i = 1, used do
      local input, output, rows = inputs[i], outputs[i], before[i + 1] - before[i]
      if rows > 0 and torch.isTensor(output) and output:dim() >= joined then
         local both = not says and torch.isTensor(input) and input:dim() == output:dim()
            and output:size(split) == rows
         if output:size(joined) ~= rows or both then
            fail('%s: the input was cut along dimension %d and outputs would be joined along'
               .. ' dimension %d, but for %d of it that of replica %d is of size %s; define'
               .. ' outputSplit of the module to choose the dimension of its outputs', name, split,
               joined, rows, i, table.concat(output:size():totable(), 'x'))
         end
      end
   end
end
