--- Computes a recurrent network step by step in plain Lua numbers: lua/dpt/nn/RNN.lua must agree.
--
-- Invariant: it reads the module's fields and its named weights, and calls none of its other
-- methods.
local M = {}

local function logistic(x) return 1 / (1 + math.exp(-x)) end
local function tanh(x)
   local e = math.exp(-2 * math.abs(x))
   return (x < 0 and -1 or 1) * (1 - e) / (1 + e)
end

-- Returns matrix (list of rows) times vector, plus biases if given.
local function sum(matrix, vector, bias)
   local result = {}
   for r = 1, #matrix do
      local total = bias and bias[r] or 0
      for c = 1, #vector do total = total + matrix[r][c] * vector[c] end
      result[r] = total
   end
   return result
end

local function plus(a, b)
   local result = {}
   for i = 1, #a do result[i] = a[i] + b[i] end
   return result
end

local function map(a, f)
   local result = {}
   for i = 1, #a do result[i] = f(a[i]) end
   return result
end

local gates = {CUDNN_RNN_RELU = {'h'}, CUDNN_RNN_TANH = {'h'}, CUDNN_LSTM = {'i', 'f', 'g', 'o'},
   CUDNN_GRU = {'r', 'z', 'n'}}

local function list(t) return t and t:totable() or nil end

-- Returns the parameters of a layer and direction as lists of numbers, by name.
local function numbers(module, layer)
   local w, b = module:weights()[layer], module:biases()[layer]
   local p = {input = {}, recurrent = {}, inputBias = {}, recurrentBias = {},
      projection = list(w.projection)}
   for _, gate in ipairs(gates[module.mode]) do
      p.input[gate], p.recurrent[gate] = list(w.input[gate]), list(w.recurrent[gate])
      p.inputBias[gate], p.recurrentBias[gate] = list(b.input[gate]), list(b.recurrent[gate])
   end
   return p
end

-- Runs one step; returns the new h and c.
local function step(mode, p, x, h, c)
   local function fromInput(gate)
      local matrix = p.input[gate]
      if matrix then return sum(matrix, x, p.inputBias[gate]) end
      return p.inputBias[gate] and plus(x, p.inputBias[gate]) or x -- skipped
   end
   local function fromH(gate) return sum(p.recurrent[gate], h, p.recurrentBias[gate]) end
   local function both(gate) return plus(fromInput(gate), fromH(gate)) end
   if mode == 'CUDNN_RNN_RELU' then
      return map(both 'h', function(v) return math.max(v, 0) end)
   elseif mode == 'CUDNN_RNN_TANH' then
      return map(both 'h', tanh)
   elseif mode == 'CUDNN_LSTM' then
      local i, f = map(both 'i', logistic), map(both 'f', logistic)
      local g, o = map(both 'g', tanh), map(both 'o', logistic)
      local cell, whole = {}, {}
      for k = 1, #i do
         cell[k] = f[k] * c[k] + i[k] * g[k]
         whole[k] = o[k] * tanh(cell[k])
      end
      return p.projection and sum(p.projection, whole) or whole, cell
   end
   local r, z = map(both 'r', logistic), map(both 'z', logistic)
   local n, mine, result = fromInput 'n', fromH 'n', {}
   for k = 1, #r do
      result[k] = (1 - z[k]) * tanh(n[k] + r[k] * mine[k]) + z[k] * h[k]
   end
   return result
end

--- Returns the network's results for one sequence.
-- @param x list of steps, each a list of numbers
-- @param h0 list with the first h of every layer and direction
-- @param c0 likewise
-- @return list of outputs, list of last h, list of last c
local function sequence(module, x, h0, c0)
   local directions, hn, cn = module.numDirections, {}, {}
   for layer = 1, module.numLayers do
      local outputs = {}
      for t = 1, #x do outputs[t] = {} end
      for direction = 1, directions do
         local index = (layer - 1) * directions + direction
         local p, h, c = numbers(module, index), h0[index], c0[index]
         for k = 1, #x do
            local t = direction == 1 and k or #x + 1 - k
            h, c = step(module.mode, p, x[t], h, c)
            for _, value in ipairs(h) do table.insert(outputs[t], value) end
         end
         hn[index], cn[index] = h, c
      end
      x = outputs
   end
   return x, hn, cn
end

--- Returns the expected results for padded sequences, in the layout of the module's tensors.
-- @param x T x B x inputSize (B x T with batchFirst), a host tensor
-- @param lengths list of B numbers, or nil
-- @param hidden, cell states before the first step, or nil
-- @return y, hn, cn as DoubleTensors; cn is nil except for an LSTM
function M.forward(module, x, lengths, hidden, cell)
   local first = module.batchFirst
   if first then x = x:transpose(1, 2) end
   local T, B = x:size(1), x:size(2)
   local width = module.projSize > 0 and module.projSize or module.hiddenSize
   local layers = module.numLayers * module.numDirections
   local y = torch.DoubleTensor(T, B, width * module.numDirections):zero()
   local hn = torch.DoubleTensor(layers, B, width):zero()
   local cn = torch.DoubleTensor(layers, B, module.hiddenSize):zero()
   for b = 1, B do
      local steps, h, c = {}, {}, {}
      for t = 1, lengths and lengths[b] or T do steps[t] = x[t][b]:totable() end
      for k = 1, layers do
         h[k] = hidden and hidden[k][b]:totable() or torch.zeros(width):totable()
         c[k] = cell and cell[k][b]:totable() or torch.zeros(module.hiddenSize):totable()
      end
      local outputs, lastH, lastC = sequence(module, steps, h, c)
      for t, output in ipairs(outputs) do y[t][b]:copy(torch.DoubleTensor(output)) end
      for k = 1, layers do
         hn[k][b]:copy(torch.DoubleTensor(lastH[k]))
         if lastC[k] then cn[k][b]:copy(torch.DoubleTensor(lastC[k])) end
      end
   end
   return first and y:transpose(1, 2):contiguous() or y, hn,
      module.mode == 'CUDNN_LSTM' and cn or nil
end

return M
