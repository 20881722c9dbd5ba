--- Recurrent networks return the results of PyTorch, recorded by spec/support/rnn_torch.py.
local dpt = require 'dpt'
local torch, cudnn = dpt.torch, dpt.cudnn
local weights = require 'dpt.rnn.weights'

-- Returns the inputs of the script: numbers computed by a formula.
local function value(first, ...)
   local t = torch.DoubleTensor(...)
   local flat = t:view(-1)
   for k = 0, flat:nElement() - 1 do
      flat[k + 1] = 0.6 * math.sin(0.7 * first + 0.37 * k * (1 + 0.01 * first))
   end
   return t
end

local classes = {relu = 'RNNReLU', tanh = 'RNNTanh', lstm = 'LSTM', gru = 'GRU'}
local T, B, I, H = 4, 3, 2, 3

local function network(case)
   local rnn = cudnn[classes[case.cell]](I, H, tonumber(case.layers), case.first == '1')
   if case.directions == '2' then rnn:bothDirections() end
   if case.projection ~= '0' then rnn:projection(tonumber(case.projection)) end
   rnn:double()
   rnn.weight:copy(weights.fromFile(rnn, value(1, weights.toFile(rnn, rnn.weight):nElement())))
   return rnn
end

local function readCases()
   local cases = {}
   for line in io.lines('spec/support/rnn_torch.txt') do
      local word, rest = line:match('^(%S+) (.*)$')
      if word == 'case' then
         cases[#cases + 1] = {title = rest, results = {}}
         for key, setting in rest:gmatch('(%w+)=(%S+)') do cases[#cases][key] = setting end
      else
         local list = {}
         for number in rest:gmatch('%S+') do list[#list + 1] = tonumber(number) end
         cases[#cases].results[word] = torch.DoubleTensor(list)
      end
   end
   return cases
end

describe('Recurrent networks equal PyTorch #recorded', function()
   local cases = readCases()
   it('in every recorded case', function() assert.equal(11, #cases) end)

   for _, case in ipairs(cases) do
      for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor',
         'torch.FloatTensor', 'torch.CudaTensor'} do
         it(case.title .. ' ' .. typename, function()
            local rnn, lstm = network(case):type(typename), case.cell == 'lstm'
            local directions, layers = tonumber(case.directions), tonumber(case.layers)
            local width = case.projection ~= '0' and tonumber(case.projection) or H
            local function sizes(columns)
               if case.first == '1' then return B, T, columns end
               return T, B, columns
            end
            local function given(...) return value(...):type(typename) end
            local input = {given(2, sizes(I)), given(3, layers * directions, B, width),
               lstm and given(4, layers * directions, B, H) or nil}
            local gradOutput = {given(5, sizes(width * directions)),
               given(6, layers * directions, B, width),
               lstm and given(7, layers * directions, B, H) or nil}
            if case.lengths ~= '-' then
               local lengths = {}
               for n in case.lengths:gmatch('%d+') do lengths[#lengths + 1] = tonumber(n) end
               input[#input + 1] = lengths
            end
            local output = rnn:forward(input)
            local gradInput = rnn:backward(input, gradOutput)
            local got = {y = output[1], hn = output[2], cn = output[3], gx = gradInput[1],
               gh = gradInput[2], gc = gradInput[3], gw = weights.toFile(rnn, rnn.gradWeight)}
            for name, expected in pairs(case.results) do
               local worst = (got[name]:double():view(-1) - expected):abs():max()
               local allowed = typename:find('Double') and 1e-8
                  or 1e-5 * math.max(1, torch.abs(expected):max())
               assert.is_true(worst <= allowed, ('%s differs by %g'):format(name, worst))
            end
            assert.equal(0, rnn.compactions)
         end)
      end
   end
end)
