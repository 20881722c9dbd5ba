--- dpt.rnn.packing: converts sequences of different lengths to packed form, without padding, and
-- back.
--
-- Invariant: packed data has the rows of the first step of all sequences, then those of the second
-- step of the sequences that have one, and so on; so sequences are sorted by decreasing length.
-- batchSizes[t] is the number of sequences that have a step t. Data is copied, never shared.
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local M = {}

--- Raises unless lengths is a list of B integers from 1 to T.
-- @param name name of the owner in errors
function M.check(lengths, T, B, name)
   if #lengths ~= B then
      fail('%s: there are %d lengths for %d sequences', name, #lengths, B)
   end
   for b, length in ipairs(lengths) do
      if type(length) ~= 'number' or length % 1 ~= 0 or length < 1 or length > T then
         fail('%s: length %d is %s, wanted 1 to %d, the steps of the input', name, b,
            tostring(length), T)
      end
   end
end

--- Returns the number of sequences that have a step t, for every t.
-- @param lengths list in non-increasing order
function M.sizes(lengths, name)
   local sizes = {}
   for b, length in ipairs(lengths) do
      if b > 1 and length > lengths[b - 1] then
         fail('%s: packed sequences must be sorted by decreasing length, sequence %d has %d'
            .. ' steps and the one before it %d', name, b, length, lengths[b - 1])
      end
      for t = 1, length do sizes[t] = b end
   end
   return sizes
end

--- Returns the length of every sequence.
function M.lengths(sizes, name)
   local lengths = {}
   for t, size in ipairs(sizes) do
      if type(size) ~= 'number' or size % 1 ~= 0 or size < 1 or t > 1 and size > sizes[t - 1] then
         fail('%s: step %d of the packed sequences has %s of them, wanted at least 1 and no more'
            .. ' than the step before', name, t, tostring(size))
      end
      for b = 1, size do lengths[b] = t end
   end
   if #lengths == 0 then fail('%s: the packed sequences have no step', name) end
   return lengths
end

--- Returns the indices of packed rows among the T*B rows of padded data, from 1.
-- @return LongTensor, on a device if `like` is
function M.rows(sizes, like)
   local rows, B = {}, sizes[1]
   for t, size in ipairs(sizes) do
      for b = 1, size do rows[#rows + 1] = (t - 1) * B + b end
   end
   rows = torch.LongTensor(rows)
   return torch.type(like):find('Cuda') and rows:type('torch.CudaLongTensor') or rows
end

-- Returns the given numbers followed by the sizes of a tensor without its first `skip` dimensions.
local function sizesOf(t, skip, ...)
   local list = {...}
   for d = skip + 1, t:dim() do list[#list + 1] = t:size(d) end
   return torch.LongStorage(list)
end

--- Converts packed data (N x ...) to padded data (T x B x ...), with zeros after the ends.
-- @param padded tensor for the result, or nil
function M.pad(padded, data, sizes, rows)
   padded = padded or data.new()
   padded:resize(sizesOf(data, 1, #sizes * sizes[1])):zero():indexCopy(1, rows, data)
   return padded:resize(sizesOf(data, 1, #sizes, sizes[1]))
end

--- Converts padded data to packed data.
-- @param data tensor for the result, or nil
function M.pack(data, padded, rows)
   data = data or padded.new()
   return data:index(padded:contiguous():view(sizesOf(padded, 2, -1)), 1, rows)
end

--- Converts padded sequences (T x B x ..., B x T with batchFirst) to {packed data, batch sizes}.
function M.packPadded(input, lengths, batchFirst, name)
   if batchFirst then input = input:transpose(1, 2) end
   M.check(lengths, input:size(1), input:size(2), name)
   local sizes = M.sizes(lengths, name)
   return {M.pack(nil, input:narrow(1, 1, #sizes), M.rows(sizes, input)), sizes}
end

--- Converts {packed data, batch sizes} to padded data.
-- @return padded data, list of lengths
function M.padPacked(packed, batchFirst, name)
   local data, sizes = packed[1], packed[2]
   local lengths = M.lengths(sizes, name)
   local padded = M.pad(nil, data, sizes, M.rows(sizes, data))
   return batchFirst and padded:transpose(1, 2) or padded, lengths
end

--- Returns the lengths of sequences, a list of numbers or a tensor, as a list.
function M.list(lengths)
   if not torch.isTensor(lengths) then return lengths end
   return lengths:double():view(-1):totable()
end

return M
