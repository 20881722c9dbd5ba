--- dpt.rnn.call: reads the input of a recurrent module's forward, and formats its results.
--
-- Invariant: a call holds everything that its backward needs and nothing else. The user's input is
-- never modified. Packed sequences are padded in buffers of the module.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local dptffi = require 'dpt.ffi'
local packing = require 'dpt.rnn.packing'
local remember = require 'dpt.rnn.remember'

local M = {}

local function fail(module, format, ...)
   return dptffi.fail(torch.type(module) .. ': ' .. format, ...)
end

local function contiguous(t) return t and t:contiguous() or nil end

-- Converts a float tensor from a field of the module to the type of 16-bit sequences.
local function typeLike(t, x)
   return torch.isTensor(t) and t.kind_ == core.computeKind(x.kind_) and t:typeAs(x) or t
end

--- Returns true if an entry of an input is a list of lengths (or batch sizes), not a state.
function M.isList(value)
   return torch.isTensor(value) and value:dim() == 1 or torch.type(value) == 'table'
end

-- Sets the states and returns the list of an input {x, ...}.
local function readTable(module, call, input)
   local list
   for k = 2, table.maxn(input) do
      local value = input[k]
      if M.isList(value) and not list then
         list = packing.list(value)
      elseif torch.isTensor(value) and value:dim() == 3 and not call.cell then
         call[call.hidden and 'cell' or 'hidden'] = value
      else
         fail(module, 'entry %d of the input is a %s of %s dimension(s), wanted a state (3) or the'
            .. ' lengths (1)', k, torch.type(value), torch.isTensor(value) and value:dim() or 'no')
      end
   end
   return list
end

-- Returns the padded form of packed sequences, and their lengths.
local function unpackRows(module, call, x, sizes, name)
   local lengths, total = packing.lengths(sizes, name), 0
   for _, length in ipairs(lengths) do total = total + length end
   if x:size(1) ~= total then
      fail(module, 'the packed input has %d rows, its batch sizes have %d', x:size(1), total)
   end
   call.sizes, call.rows, call.batchFirst = sizes, packing.rows(sizes, x), false
   module.padded_ = packing.pad(module.padded_, x, sizes, call.rows)
   return module.padded_, lengths
end

-- Starts from the states left by the previous forward. If they do not match B sequences, a module
-- of the package rnn raises and one of cudnn.torch starts from zeros, as these packages do.
local function restoreStates(module, B)
   local kept, rows = module.remembered_ or {}, module.hiddenOutput
   rows = rows:dim() == 3 and rows:size(2) or B
   if rows ~= B and module.rememberMode then
      dptffi.raise(remember.mismatch(module, rows, B))
   end
   for from, to in pairs{hiddenOutput = 'hiddenInput', cellOutput = 'cellInput'} do
      local last = module[from]
      if last:dim() == 3 and last:size(2) == B then
         kept[to] = kept[to] or last.new()
         module[to] = kept[to]:resizeAs(last):copy(last)
      else
         module[to] = nil
      end
   end
   module.remembered_ = kept
end

--- Reads an input.
-- @return {x, hidden, cell, lengths = LongTensor, batchFirst; states = true if the input has them;
-- rows and sizes of packed sequences}
function M.read(module, input)
   if torch.isTensor(input) then input = {input} end
   local x, name = torch.type(input) == 'table' and input[1], torch.type(module)
   if not torch.isTensor(x) then
      fail(module, 'wants a tensor or a table {x, ...} as input, got %s', torch.type(input))
   end
   local call = {batchFirst = module.batchFirst}
   local lengths = readTable(module, call, input)
   call.states = call.hidden ~= nil
   if lengths and x:dim() == 2 then
      x, lengths = unpackRows(module, call, x, lengths, name)
   elseif x:dim() ~= 3 then
      fail(module, 'input wants 3 dimensions (%s x inputSize), got %d',
         module.batchFirst and 'B x T' or 'T x B', x:dim())
   end
   local T, B = x:size(call.batchFirst and 2 or 1), x:size(call.batchFirst and 1 or 2)
   if lengths then
      packing.check(lengths, T, B, name)
      call.lengths = B > 0 and torch.LongTensor(lengths) or nil
   end
   if not call.states then
      if module.rememberStates then restoreStates(module, B) end
      call.hidden, call.cell = typeLike(module.hiddenInput, x), typeLike(module.cellInput, x)
   end
   call.x, call.hidden, call.cell = x:contiguous(), contiguous(call.hidden), contiguous(call.cell)
   return call
end

--- Reads the gradient of a call's output.
-- @return contiguous gradients of y, hn and cn, nil for missing ones
function M.readGradient(module, call, gradOutput)
   local gy, hidden = gradOutput, typeLike(module.gradHiddenOutput, call.x)
   local cell = typeLike(module.gradCellOutput, call.x)
   if call.states then
      if torch.type(gradOutput) ~= 'table' then
         fail(module, 'gradOutput wants the form of the output, a table, got %s',
            torch.type(gradOutput))
      end
      gy, hidden, cell = gradOutput[1], gradOutput[2], gradOutput[3]
   end
   if not torch.isTensor(gy) then
      fail(module, 'gradOutput wants a tensor for the sequences, got %s', torch.type(gy))
   end
   if call.rows then
      local y = call.states and module.output[1] or module.output
      if not gy:isSameSizeAs(y) then
         fail(module, 'gradOutput has %d elements for the packed sequences, wanted %d',
            gy:nElement(), y:nElement())
      end
      module.gradPadded_ = packing.pad(module.gradPadded_, gy, call.sizes, call.rows)
      gy = module.gradPadded_
   end
   return contiguous(gy), contiguous(hidden), contiguous(cell)
end

-- Returns the result of a call: padded, or for packed input, packed into a field of the module.
local function give(module, call, padded, field)
   if not call.rows then return padded end
   module[field] = packing.pack(module[field], padded, call.rows)
   return module[field]
end

--- Returns the output of a call in the format of its input.
function M.output(module, call, y, hn, cn)
   y = give(module, call, y, 'packed_')
   return call.states and {y, hn, cn} or y
end

--- Returns the gradient of a call in the format of its input, without lengths, which have no
-- gradient; for packed sequences without states it is the tensor.
function M.gradInput(module, call, input, gx, gh, gc)
   gx = give(module, call, gx, 'gradPacked_')
   if torch.isTensor(input) or call.rows and not call.states then return gx end
   local result, states = {gx}, {gh, gc}
   for k = 2, table.maxn(input) do
      if not M.isList(input[k]) then result[k] = table.remove(states, 1) end
   end
   return result
end

return M
