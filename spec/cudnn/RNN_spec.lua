--- cudnn.RNN as a module: files, packed sequences, modes and rejected arguments.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local both = require 'spec.support.both'
local elements = require 'spec.support.elements'
local same = require 'spec.support.parallel'

local T, B, I, H = 4, 3, 2, 3

local function random(...) return torch.randn(...):cuda() end

-- Returns the text of a Torch7 file that holds an object of a class with the given fields.
local function fileOf(class, fields)
   local lines, objects = {}, 0
   local function add(...)
      for _, value in ipairs{...} do lines[#lines + 1] = tostring(value) end
   end
   local function text(value) add(#value, value) end
   local function object(name)
      objects = objects + 1
      add(4, objects)
      text 'V 1'
      text(name)
   end
   local function put(value)
      local kind = type(value)
      if kind == 'number' then add(1, ('%.17g'):format(value))
      elseif kind == 'boolean' then add(5, value and 1 or 0)
      elseif kind == 'string' then add(2) text(value)
      else
         object 'torch.CudaTensor'
         add(value:dim(), table.concat(value:size():totable(), ' '),
            table.concat(value:stride():totable(), ' '), 1)
         if value:nElement() == 0 then return add(0) end
         object 'torch.CudaStorage'
         add(value:nElement(), table.concat(value:view(-1):totable(), ' '))
      end
   end
   object(class)
   objects = objects + 1
   add(3, objects)
   local count = 0
   for _ in pairs(fields) do count = count + 1 end
   add(count)
   for key, value in pairs(fields) do
      put(key)
      put(value)
   end
   return table.concat(lines, '\n') .. '\n\0'
end

describe('cudnn.RNN', function()
   before_each(function() torch.manualSeed(8) end)

   it('has the classes, fields and modes of cudnn.torch', function()
      for class, mode in pairs{RNN = 'CUDNN_RNN_RELU', RNNReLU = 'CUDNN_RNN_RELU',
         RNNTanh = 'CUDNN_RNN_TANH', LSTM = 'CUDNN_LSTM', GRU = 'CUDNN_GRU', BLSTM = 'CUDNN_LSTM',
         BGRU = 'CUDNN_GRU'} do
         local rnn = cudnn[class](I, H, 2, true, 0.25, true)
         assert.equal('cudnn.' .. class, torch.type(rnn))
         assert.equal(mode, rnn.mode)
         assert.equal(class:find '^B' and 2 or 1, rnn.numDirections)
         assert.equal('torch.CudaTensor', rnn.weight:type())
         assert.same({I, H, 2, true, 0.25, true}, {rnn.inputSize, rnn.hiddenSize, rnn.numLayers,
            rnn.batchFirst, rnn.dropout, rnn.rememberStates})
         assert.equal(8, rnn.linearLayers.CUDNN_LSTM)
         rnn:setSync(false)
         assert.same({B, T, H * rnn.numDirections}, rnn:forward(random(B, T, I)):size():totable())
         local bound = 1 / math.sqrt(H)
         assert.is_true(rnn.weight:max() <= bound and rnn.weight:min() >= -bound)
      end
      local rnn = cudnn.LSTM(I, H)
      rnn.bidirectional = 'CUDNN_BIDIRECTIONAL' -- set by hand, as scripts do
      rnn:reset()
      assert.equal(2 * H, rnn:forward(random(T, B, I)):size(3))
      local net = nn.Sequential():add(cudnn.GRU(I, H)):add(cudnn.ReLU())
      cudnn.convert(net, nn)
      assert.equal('cudnn.GRU', torch.type(net:get(1)))
   end)

   it('accepts lengths of more sequences than a queue has bytes', function()
      local rows, lengths = 100000, {}
      for i = 1, rows do lengths[i] = 1 + i % 2 end
      local rnn = cudnn.RNNTanh(1, 1)
      local x = random(2, rows, 1)
      local all = rnn:forward{x, lengths}:narrow(2, rows - 4, 5):clone()
      local last = {unpack(lengths, rows - 4, rows)}
      same.close(rnn:forward{x:narrow(2, rows - 4, 5):contiguous(), last}, all, 1e-6)
   end)

   it('is saved and loaded, also to the host, without the buffers of calls', function()
      for _, class in ipairs{'LSTM', 'BGRU'} do
         local rnn = cudnn[class](I, H, 2)
         local net = nn.Sequential():add(rnn)
         net:getParameters()
         local x = random(T, B, I)
         local y = net:forward(x):clone()
         net:backward(x, y)
         rnn:weights()
         local back = torch.deserialize(torch.serialize(net))
         for _, name in ipairs{'reserve', 'sequence', 'call_', 'views_'} do
            assert.is_nil(back:get(1)[name])
         end
         same.bits(y, back:forward(x))
         same.bits(rnn.gradWeight, back:get(1).gradWeight)
         assert.equal(0, back:get(1).compactions)
         same.close(y, back:double():forward(x:double()), 1e-5)
         same.close(y, back:float():forward(x:float()), 1e-5)
         same.bits(rnn.weight, back:get(1):cuda().weight)
      end
   end)

   it('reads files that cudnn.torch has written', function()
      local reference = cudnn.LSTM(I, H, 2)
      local names, flat = require 'dpt.rnn.weights', torch.randn(reference.weight:nElement()):cuda()
      reference.weight:copy(names.fromFile(reference, flat:clone()))
      local x = random(T, B, I)
      local fields = {datatype = 'CUDNN_DATA_FLOAT', inputSize = I, hiddenSize = H, numLayers = 2,
         seqLength = T, miniBatch = B, bidirectional = 'CUDNN_UNIDIRECTIONAL', numDirections = 1,
         inputMode = 'CUDNN_LINEAR_INPUT', mode = 'CUDNN_LSTM', dropout = 0.5, seed = 19088743,
         batchFirst = false, rememberStates = false, sync = true, inputPacked = false,
         train = true, weight = flat, gradWeight = flat:clone():zero(), reserve = random(9),
         dropoutStates = random(7), dropoutStatesSize = 28, _type = 'torch.CudaTensor'}
      for _, name in ipairs{'output', 'gradInput', 'hiddenOutput', 'cellOutput',
         'gradHiddenInput', 'gradCellInput'} do
         fields[name] = torch.CudaTensor()
      end
      local rnn = torch.MemoryFile(torch.CharStorage():string(fileOf('cudnn.LSTM', fields)), 'r')
         :readObject()
      rnn:evaluate()
      same.bits(reference:forward(x), rnn:forward(x))
      assert.is_nil(rnn.dropoutStates)
      rnn:training()
      rnn:backward(x, rnn:forward(x):clone())
      fields.weight = torch.CudaTensor(5):zero()
      assert.error_matches(function()
         torch.MemoryFile(torch.CharStorage():string(fileOf('cudnn.LSTM', fields)), 'r')
            :readObject()
      end, 'a weight of 5 elements was read, the network has 180')
   end)

   it('packs sequences and computes on packed ones', function()
      for _, batchFirst in ipairs{false, true} do
         local rnn, lengths = cudnn.BLSTM(I, H, 2, batchFirst), {4, 2, 2}
         local x = batchFirst and random(B, T, I) or random(T, B, I)
         local packed = rnn:packPaddedSequence(x, lengths, batchFirst)
         assert.same({8, I}, packed[1]:size():totable())
         assert.same({3, 3, 1, 1}, packed[2])
         local padded, back = rnn:padPackedSequence(packed, batchFirst)
         assert.same(lengths, back)
         assert.same(x:size():totable(), padded:size():totable())
         local expected = rnn:forward{x, lengths}:clone()
         local gradOutput = random(unpack(expected:size():totable()))
         rnn:zeroGradParameters()
         local gradInput = rnn:backward({x, lengths}, gradOutput)[1]:clone()
         local gradWeight = rnn.gradWeight:clone()
         local y = rnn:forward(packed)
         same.bits(rnn:packPaddedSequence(expected, lengths, batchFirst)[1], y)
         rnn:zeroGradParameters()
         local g = rnn:backward(packed, rnn:packPaddedSequence(gradOutput, lengths, batchFirst)[1])
         same.bits(rnn:packPaddedSequence(gradInput, lengths, batchFirst)[1], g)
         same.close(gradWeight, rnn.gradWeight, 1e-6)
      end
   end)

   it('computes the same in evaluation each time, without dropout and without backward', function()
      local rnn, x = cudnn.GRU(I, H, 2, false, 0.9), random(T, B, I)
      local y = rnn:forward(x):clone()
      rnn:evaluate()
      local plain = rnn:forward(x):clone()
      assert.is_true((plain - y):abs():max() > 0)
      same.bits(plain, rnn:forward(x))
      assert.error_matches(function() rnn:backward(x, plain) end, 'needs a forward in training')
      rnn.dropout = 0
      rnn:training()
      same.close(plain, rnn:forward(x), 1e-6)
   end)

   it('returns the same gradients from a second backward, also with dropout', function()
      local rnn, x = cudnn.LSTM(I, H, 2, false, 0.5), random(T, B, I)
      local y = rnn:forward(x):clone()
      rnn:zeroGradParameters()
      local gradInput, gradWeight = rnn:backward(x, y):clone(), rnn.gradWeight:clone()
      same.bits(gradInput, rnn:backward(x, y))
      same.close(gradWeight * 2, rnn.gradWeight, 1e-6)
      rnn:zeroGradParameters()
      rnn:forward(x)
      rnn:accGradParameters(x, y) -- without a preceding updateGradInput
      rnn.gradInput = nil
      rnn:forward(x)
      assert.is_nil(rnn:backward(x, y))
   end)

   it('works in reduced precision on devices and in host memory', function()
      for _, name in ipairs(elements.reduced) do
         for _, kind in ipairs{name, elements.onDevice(name)} do
            local typename = ('torch.%sTensor'):format(kind)
            local rnn, x = cudnn.BLSTM(I, H, 2), random(T, B, I)
            local y = rnn:forward(x):clone()
            rnn:type(typename)
            local reduced = rnn:forward(x:type(typename))
            same.close(y, reduced:cuda(), both.tolerance(name, 2e-3))
            assert.equal(typename, rnn:backward(x:type(typename), reduced:clone()):type())
            same.close(y, rnn:cuda():forward(x), both.tolerance(name, 2e-3))
         end
      end
   end)

   it('accepts non-contiguous inputs, also after clearState and a change of type', function()
      local rnn = cudnn.LSTM(I, H)
      local x = random(B, T, I):transpose(1, 2)
      local y = rnn:forward(x):clone()
      same.bits(y, rnn:forward(x:contiguous()))
      rnn:backward(x, y:transpose(1, 2):contiguous():transpose(1, 2))
      assert.equal(0, rnn:clearState().output:nElement())
      same.bits(y, rnn:forward(x))
      assert.error_matches(function() rnn:clearState():backward(x, y) end, 'needs a forward')
      same.close(y, rnn:double():forward(x:double()), 1e-5)
   end)

   describe('rejects by one error message', function()
      local rnn, gru
      before_each(function() rnn, gru = cudnn.LSTM(I, H), cudnn.GRU(I, H) end)
      for name, case in pairs{
         ['sequences of another width'] = {function() rnn:forward(random(T, B, I + 1)) end, 'rnn'},
         ['a matrix'] = {function() rnn:forward(random(T, I)) end, '3 dimensions %(T x B'},
         ['no tensor'] = {function() rnn:forward(3) end, 'got number'},
         ['lengths longer than the sequence'] = {function()
            rnn:forward{random(T, B, I), {1, 5, 2}}
         end, 'length 2 is 5, wanted 1 to 4'},
         ['sequences of length zero'] = {function() rnn:forward{random(T, B, I), {1, 0, 2}} end,
            'length 2 is 0, wanted 1 to 4'},
         ['too few lengths'] = {function() rnn:forward{random(T, B, I), {1, 2}} end,
            '2 lengths for 3 sequences'},
         ['rising lengths where they are packed'] = {function()
            rnn:packPaddedSequence(random(T, B, I), {2, 4, 1})
         end, 'sequence 2 has 4 steps and the one before it 2'},
         ['batch sizes of other data'] = {function() rnn:forward{random(5, I), {2, 2}} end,
            'packed input has 5 rows, its batch sizes have 4'},
         ['rising batch sizes'] = {function() rnn:forward{random(3, I), {1, 2}} end,
            'step 2 of the packed sequences has 2'},
         ['a state of another batch'] = {function()
            rnn:forward{random(T, B, I), random(1, B + 1, H)}
         end, "'h0' is a torch.CudaTensor of size 1x4x3, wanted size 1x3x3"},
         ['a state that is a matrix'] = {function()
            rnn:forward{random(T, B, I), random(B, H)}
         end, 'entry 2 of the input is a torch.CudaTensor of 2 dimension'},
         ['a projection of a GRU'] = {function() gru:projection(2) end, 'projection'},
         ['gradients of another size'] = {function()
            rnn:forward(random(T, B, I))
            rnn:backward(random(T, B, I), random(T, B, H + 1))
         end, "'gradOutput' is a torch.CudaTensor of size 4x3x4"},
         ['half a layer'] = {function() cudnn.LSTM(I, H, 1.5) end,
            'numLayers wants to be a whole number from 1, got 1.5'},
         ['no sizes'] = {function() cudnn.LSTM() end, "'inputSize', wanted a number, got nil"},
         ['a mode that is none'] = {function()
            rnn.mode = 'CUDNN_LSTMP'
            rnn:reset()
         end, 'mode is CUDNN_LSTMP, wanted one of CUDNN_GRU, CUDNN_LSTM'},
         ['dropout of everything'] = {function() cudnn.LSTM(I, H, 2, false, 1) end,
            'wants 0 <= p < 1, got 1'},
         ['skipping an input of another width'] = {function() rnn:skipInput() end, 'skip'},
      } do
         it(name, function()
            local ok, message = pcall(case[1])
            assert.is_false(ok)
            assert.matches(case[2], message)
            assert.is_nil(message:match('\n'), message)
         end)
      end
   end)
end)
