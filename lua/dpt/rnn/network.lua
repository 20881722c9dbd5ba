--- dpt.rnn.network: describes a recurrent module to the C library.
--
-- Invariant: only fields describe a module, with cudnn.torch's names and values, so a script may
-- set them by hand; no description is kept. describe returns the same struct in every call: use it
-- before the next one.
local dptffi = require 'dpt.ffi'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'

local M = {}

local cells = {
   CUDNN_RNN_RELU = C.DPT_RNN_RELU, CUDNN_RNN_TANH = C.DPT_RNN_TANH,
   CUDNN_LSTM = C.DPT_RNN_LSTM, CUDNN_GRU = C.DPT_RNN_GRU,
}
local biases = {
   CUDNN_RNN_NO_BIAS = C.DPT_RNN_NO_BIAS, CUDNN_RNN_DOUBLE_BIAS = C.DPT_RNN_DOUBLE_BIAS,
   CUDNN_RNN_SINGLE_INP_BIAS = C.DPT_RNN_INPUT_BIAS,
   CUDNN_RNN_SINGLE_REC_BIAS = C.DPT_RNN_RECURRENT_BIAS,
}
local directions = {CUDNN_UNIDIRECTIONAL = 1, CUDNN_BIDIRECTIONAL = 2}
local inputs = {CUDNN_LINEAR_INPUT = 0, CUDNN_SKIP_INPUT = 1}

--- Names of the gates by mode, in cuDNN's order.
M.gates = {
   CUDNN_RNN_RELU = {'h'}, CUDNN_RNN_TANH = {'h'},
   CUDNN_LSTM = {'i', 'f', 'g', 'o'}, CUDNN_GRU = {'r', 'z', 'n'},
}

local function choose(module, list, field)
   local value = list[module[field]]
   if value then return value end
   local names = {}
   for name in pairs(list) do names[#names + 1] = name end
   table.sort(names)
   return fail('%s: %s is %s, wanted one of %s', torch.type(module), field,
      tostring(module[field]), table.concat(names, ', '))
end

local function size(module, field, least)
   local value = module[field]
   if type(value) == 'number' and value % 1 == 0 and value >= least and value < 2 ^ 31 then
      return value
   end
   return fail('%s: %s wants to be a whole number from %d, got %s', torch.type(module), field,
      least, tostring(value))
end

local struct = ffi.new('dpt_rnn')

local key = ffi.new('dpt_draw')
local KEY = ffi.sizeof(key)

--- Returns the key of the random numbers that the dropout of one call draws. They are drawn by
-- sequence; on devices by the position of a sequence in the whole batch.
-- @param x the call's sequences
-- @param dimension dimension of the sequences in x
-- @return a string
function M.draw(x, dimension)
   lib.draw_next(key, x, core.generator(), x:size(dimension))
   return ffi.string(key, KEY)
end

--- Returns the description of a module for sequences that are batch-first or not.
-- @param batchFirst nil: the module's field
-- @param draw key of a call with dropout, otherwise nil
function M.describe(module, batchFirst, draw)
   if batchFirst == nil then batchFirst = module.batchFirst end
   struct.cell = choose(module, cells, 'mode')
   struct.bias = choose(module, biases, 'biasMode')
   struct.directions = choose(module, directions, 'bidirectional')
   struct.skip_input = choose(module, inputs, 'inputMode')
   struct.batch_first = batchFirst and 1 or 0
   struct.layers = size(module, 'numLayers', 1)
   struct.input = size(module, 'inputSize', 1)
   struct.hidden = size(module, 'hiddenSize', 1)
   struct.projection = size(module, 'projSize', 0)
   struct.dropout = module.dropout
   if draw then ffi.copy(struct.draw, draw, KEY) else ffi.fill(struct.draw, KEY) end
   return struct
end

local elements = ffi.new('int64_t[1]')

--- Returns the number of elements of the module's weight on the device of `weight`.
function M.size(module, weight)
   lib.rnn_size(M.describe(module), weight, elements)
   return tonumber(elements[0])
end

local part = ffi.new('dpt_rnn_part')

--- Returns the layout of a weight like `weight`: a list, in the order of files, of {layer (that of
-- cuDNN: layers times directions, from 1), id = cuDNN's number from 1, first = offset from 1, rows,
-- columns (nil for a bias)}: first all matrices, then all biases.
function M.layout(module, weight)
   local network = M.describe(module)
   local ids = 2 * #M.gates[module.mode] + (network.projection > 0 and 1 or 0)
   local matrices, others = {}, {}
   for layer = 0, network.layers * network.directions - 1 do
      for id = 0, ids - 1 do
         lib.rnn_find(network, weight, layer, id, part)
         local rows, columns = tonumber(part.rows), tonumber(part.columns)
         if rows > 0 then
            matrices[#matrices + 1] = {layer = layer + 1, id = id + 1, rows = rows,
               columns = columns, first = tonumber(part.matrix) + 1}
         end
         if part.biases > 0 then
            others[#others + 1] = {layer = layer + 1, id = id + 1, rows = tonumber(part.biases),
               first = tonumber(part.bias) + 1}
         end
      end
   end
   for _, bias in ipairs(others) do matrices[#matrices + 1] = bias end
   return matrices
end

--- Returns the number of elements of a part of a layout.
function M.count(entry) return entry.rows * (entry.columns or 1) end

return M
