--- Checks recurrent networks: results against a cell in plain Lua, gradients against finite
-- differences, for every cell, depth, direction, layout and kind of lengths.
--
-- Invariant: the expected values are computed without dpt's kernels.
local dpt = require 'dpt'
local torch, cudnn = dpt.torch, dpt.cudnn
local busted, luassert = require 'busted', require 'luassert'
local cell = require 'spec.support.rnn_cell'

local M = {}

local T, B, I, H = 3, 3, 2, 2
local R = function(...) return torch.randn(...):mul(0.5):double() end

local function close(expected, got, allowed, what)
   luassert.is_true(expected:isSameSizeAs(got), what .. ': other sizes')
   local worst = (expected - got:double()):abs():max()
   luassert.is_true(worst <= allowed, ('%s differs by %g'):format(what, worst))
end

--- Creates a network of double precision with random weights.
-- @param class of cudnn
-- @param options input, layers, batchFirst, both, noBias, skipInput, biasMode, projection
function M.make(class, options)
   local rnn = cudnn[class](options.input or I, H, options.layers or 1, options.batchFirst)
   if options.both then rnn:bothDirections() end
   for _, method in ipairs{'noBias', 'skipInput'} do
      if options[method] then rnn[method](rnn) end
   end
   if options.biasMode then
      rnn.biasMode = options.biasMode
      rnn:reset()
   end
   if options.projection then rnn:projection(options.projection) end
   rnn:double()
   rnn.weight:copy(R(rnn.weight:size()))
   return rnn
end

-- Returns {x, h0, c0, lengths} for a network.
local function inputFor(rnn, lengths)
   local layers = rnn.numLayers * rnn.numDirections
   local width = rnn.projSize > 0 and rnn.projSize or H
   local x = rnn.batchFirst and R(B, T, rnn.inputSize) or R(T, B, rnn.inputSize)
   return {x, R(layers, B, width), rnn.mode == 'CUDNN_LSTM' and R(layers, B, H) or lengths,
      rnn.mode == 'CUDNN_LSTM' and lengths or nil}
end

local function randomLike(list)
   local result = {}
   for i, t in ipairs(list) do result[i] = R(t:size()) end
   return result
end

-- Checks the gradient of sum(weights * output) by t against finite differences: for every element
-- of a small tensor, along random directions in a large one (an error in any element shows in
-- each).
local function checkSlopes(rnn, input, weights, t, gradient, what)
   local step, kept = 1e-5, t:clone()
   local function loss(direction, distance)
      t:copy(kept):add(distance, direction)
      local total = 0
      for i, y in ipairs(rnn:forward(input)) do total = total + y:dot(weights[i]) end
      return total
   end
   local count = t:nElement()
   for k = 1, math.min(count, 20) do
      local direction = count > 20 and R(t:size()):div(math.sqrt(count)) or t:clone():zero()
      if count <= 20 then direction:view(-1)[k] = 1 end
      local slope = (loss(direction, step) - loss(direction, -step)) / (2 * step)
      luassert.near(slope, gradient:dot(direction), 1e-7, what)
   end
   t:copy(kept)
end

--- Compares a network's output with the cell's, and its gradients with finite differences.
-- @param lengths of the sequences, or nil
function M.check(rnn, lengths)
   local input = inputFor(rnn, lengths)
   local y, hn, cn = cell.forward(rnn, input[1], lengths, input[2],
      rnn.mode == 'CUDNN_LSTM' and input[3] or nil)
   local output = rnn:forward(input)
   for i, expected in ipairs{y, hn, cn} do close(expected, output[i], 1e-12, 'output ' .. i) end
   local gradOutput = randomLike(output)
   rnn:zeroGradParameters()
   local gradInput = rnn:backward(input, gradOutput, 0.5)
   local expected = rnn.gradWeight:clone():mul(2)
   for i, gradient in ipairs(gradInput) do
      checkSlopes(rnn, input, gradOutput, input[i], gradient:clone(), 'gradInput ' .. i)
   end
   checkSlopes(rnn, input, gradOutput, rnn.weight, expected, 'gradWeight')
   luassert.equal(0, rnn.compactions)
end

M.close = close

--- Describes that a class computes the same as its cell.
function M.describe(class)
   busted.describe('cudnn.' .. class .. ' equals a cell in plain Lua', function()
      busted.before_each(function() torch.manualSeed(5) end)

      local kinds = {equal = false, ragged = {3, 2, 1}, unsorted = {2, 3, 1}}
      for layers = 1, 3 do
         for _, both in ipairs{false, true} do
            for _, batchFirst in ipairs{false, true} do
               for kind, lengths in pairs(kinds) do
                  busted.it(('with %d layer(s)%s%s and lengths that are %s'):format(layers,
                     both and ', both directions' or '', batchFirst and ', batch first' or '',
                     kind), function()
                     M.check(M.make(class, {layers = layers, both = both,
                        batchFirst = batchFirst}), lengths or nil)
                  end)
               end
            end
         end
      end

      for _, options in ipairs{{noBias = true}, {skipInput = true, input = H},
         {biasMode = 'CUDNN_RNN_SINGLE_INP_BIAS'}, {biasMode = 'CUDNN_RNN_SINGLE_REC_BIAS'}} do
         local name = next(options)
         busted.it('with ' .. (options.biasMode or name == 'input' and 'skipInput' or name),
            function()
               options.layers, options.both = 2, true
               M.check(M.make(class, options), {2, 3, 1})
            end)
      end

      busted.it('with sequences of length 1 and batches of one', function()
         local rnn = M.make(class, {layers = 2, both = true})
         for _, size in ipairs{{1, 1}, {1, 3}, {3, 1}} do
            local x = R(size[1], size[2], I)
            close(cell.forward(rnn, x), rnn:forward(x), 1e-12, class)
            luassert.same({size[1], size[2], I},
               rnn:backward(x, rnn.output:clone()):size():totable())
         end
      end)
   end)
end

return M
