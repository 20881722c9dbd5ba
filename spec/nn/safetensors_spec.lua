-- nn.safetensors: files, and the weights of PyTorch's networks, whose results
-- spec/support/safetensors_torch.py recorded.
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local nn, torch = dpt.nn, dpt.torch

local safetensors = nn.safetensors

local function recorded(name) return safetensors.load('spec/support/safetensors/' .. name) end

local function block(inside, outside, stride)
   local way = nn.Sequential()
      :add(nn.SpatialConvolution(inside, outside, 3, 3, stride, stride, 1, 1):noBias())
      :add(nn.SpatialBatchNormalization(outside)):add(nn.ReLU())
      :add(nn.SpatialConvolution(outside, outside, 3, 3, 1, 1, 1, 1):noBias())
      :add(nn.SpatialBatchNormalization(outside))
   local short = stride == 1 and nn.Identity() or nn.Sequential()
      :add(nn.SpatialConvolution(inside, outside, 1, 1, stride, stride):noBias())
      :add(nn.SpatialBatchNormalization(outside))
   return nn.Sequential():add(nn.ConcatTable():add(way):add(short)):add(nn.CAddTable())
      :add(nn.ReLU())
end

local networks = {
   resnet = function()
      return nn.Sequential():add(nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1):noBias())
         :add(nn.SpatialBatchNormalization(4)):add(nn.ReLU()):add(block(4, 4, 1))
         :add(block(4, 8, 2)):add(nn.Mean(3, 3)):add(nn.Mean(2, 2)):add(nn.Linear(8, 5)),
         {'conv1', 'bn1', 'layer1.0.conv1', 'layer1.0.bn1', 'layer1.0.conv2', 'layer1.0.bn2',
         'layer2.0.conv1', 'layer2.0.bn1', 'layer2.0.conv2', 'layer2.0.bn2',
         'layer2.0.downsample.0', 'layer2.0.downsample.1', 'fc'}
   end,
   lstm = function()
      return nn.Sequential():add(dpt.cudnn.BLSTM(4, 3, 2)):add(nn.Bottle(nn.Linear(6, 2))),
         {'lstm', 'fc'}
   end,
}

local function largest(a, b) return (a:float() - b:float()):abs():max() end

describe('nn.safetensors #recorded', function()
   for name, make in pairs(networks) do
      it(("computes PyTorch's results with its %s #devices1"):format(name), function()
         local tensors = recorded(name .. '.safetensors')
         local net, names = make()
         net:float():evaluate()
         assert.equal(net, safetensors.fill(net, tensors, names))
         assert.is_true(largest(net:forward(tensors.input), tensors.output) < 1e-5)
         net:cuda()
         assert.is_true(largest(net:forward(tensors.input:cuda()), tensors.output) < 1e-5)
      end)

      it(('returns every weight of PyTorch\'s %s as it was #devices1'):format(name), function()
         local tensors = recorded(name .. '.safetensors')
         local net, names = make()
         safetensors.fill(net:float(), tensors, names)
         local path = os.tmpname()
         safetensors.save(path, safetensors.tensors(net:cuda(), names))
         local back = safetensors.load(path)
         os.remove(path)
         for key, t in pairs(tensors) do
            if key ~= 'input' and key ~= 'output' and not key:find 'num_batches' then
               assert.is_true(back[key] ~= nil and back[key]:isSameSizeAs(t), key)
               assert.equal(0, largest(back[key], t), key)
            end
         end
      end)

      it(('loads BF16 into the floats of its %s and back #devices1'):format(name), function()
         local tensors, path = recorded(name .. '.safetensors'), os.tmpname()
         for key, t in pairs(tensors) do tensors[key] = t:bfloat16() end
         safetensors.save(path, tensors)
         local net, names = make()
         safetensors.fill(net:float(), path, names)
         os.remove(path)
         local filled = safetensors.tensors(net, names)
         local saved = safetensors.tensors(net:cudaBFloat16(), names)
         for key, t in pairs(filled) do
            assert.equal('torch.FloatTensor', t:type())
            assert.equal('torch.CudaBFloat16Tensor', saved[key]:type())
            assert.equal(0, largest(t, tensors[key]))
            assert.equal(0, largest(saved[key], tensors[key]))
         end
      end)
   end

   it('turns the weight of a temporal convolution', function()
      local net = nn.TemporalConvolution(2, 1, 2):float()
      local weight = torch.FloatTensor{{{1, 2}, {10, 20}}} -- out x in x width
      safetensors.fill(net, {weight = weight, bias = torch.zeros(1)})
      assert.same({1, 10, 2, 20}, net.weight:view(-1):totable())
      assert.equal(0, largest(safetensors.tensors(net).weight, weight))
   end)

   it('preserves all types and sizes, and reads scalars and BF16', function()
      local path = os.tmpname()
      local tensors = {}
      for _, kind in ipairs(elements.all) do
         tensors[kind] = torch.FloatTensor{{1, 2, 3}, {4, 5, 6}}:t():type(
            'torch.' .. kind .. 'Tensor')
      end
      safetensors.save(path, tensors)
      local written = io.open(path):read '*a'
      assert.is_truthy(written:find('"__metadata__":{"dpt":"' .. torch.version()
         .. '","format":"pt"}', 1, true))
      for kind, t in pairs(safetensors.load(path)) do
         assert.equal('torch.' .. kind .. 'Tensor', t:type())
         assert.equal(0, largest(t, tensors[kind]))
      end
      local header = '{"s":{"dtype":"F64","shape":[],"data_offsets":[0,8]},'
         .. '"b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},"__metadata__":{"a":"b"}}'
      local file = assert(io.open(path, 'wb'))
      file:write(string.char(#header), ('\0'):rep(7), header, ('\0'):rep(6), '\240\63',
         '\128\63\0\192')
      file:close()
      local read = safetensors.load(path)
      os.remove(path)
      assert.same({1}, read.s:totable())
      assert.equal('torch.BFloat16Tensor', read.b:type())
      assert.same({1, -2}, read.b:totable())
   end)

   it('reads a tensor named as the format in the metadata under this name only', function()
      local path = os.tmpname()
      finally(function() os.remove(path) end)
      safetensors.save(path, {pt = torch.ones(2)})
      local read = safetensors.load(path)
      assert.same({1, 1}, read.pt:totable())
      assert.is_nil(read.format)
      local one = torch.ones(3)
      safetensors.save(path, {a = one, format = one})
      assert.same({1, 1, 1}, safetensors.load(path).format:totable())
   end)

   it('reads and writes the floats of nn.MixedPrecision, under the names of the network in it',
      function()
         local function network()
            return nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4)):float()
         end
         local mixed, other = nn.MixedPrecision(network(), 'bfloat16'), network()
         other:get(2).running_mean:fill(1 / 3)
         local wanted = safetensors.tensors(other)
         safetensors.fill(mixed, wanted)
         local got = safetensors.tensors(mixed)
         assert.equal('torch.FloatTensor', got['0.weight']:type())
         for name, t in pairs(wanted) do assert.is_true(t:equal(got[name]), name) end
         assert.is_true(mixed:getParameters():equal(other:getParameters()))
         local x = torch.FloatTensor(5, 3):normal()
         other:evaluate()
         mixed:evaluate()
         assert.is_true(largest(mixed:forward(x), other:forward(x)) < 0.02)
      end)

   it('writes a weight that two modules share once, and needs only one of its names', function()
      local function tied()
         local encoder, decoder = nn.Embedding(5, 3), nn.Linear(3, 5, false)
         decoder:share(encoder, 'weight', 'gradWeight')
         return nn.Sequential():add(encoder):add(nn.Linear(3, 3)):add(decoder)
      end
      local net, path = tied(), os.tmpname()
      net:getParameters() -- weights in one storage are not shared by this alone
      local names = {'wte', 'fc', 'lm_head'}
      safetensors.save(path, safetensors.tensors(net, names))
      local written = io.open(path):read '*a'
      assert.is_truthy(written:find('"__metadata__":{"dpt":"' .. torch.version()
         .. '","format":"pt","wte.weight":"lm_head.weight"}', 1, true))
      assert.is_nil(written:find('"wte.weight":{', 1, true))
      assert.is_true(#written < 8 * (5 * 3 + 3 * 3 + 3) + 400)
      local read = safetensors.load(path)
      os.remove(path)
      assert.is_true(read['wte.weight']:isSetTo(read['lm_head.weight']))
      assert.equal(0, largest(read['wte.weight'], net:get(1).weight))
      for _, name in ipairs{'wte', 'lm_head'} do
         local one, other = {}, tied()
         for key, t in pairs(read) do one[key] = t end
         one[name .. '.weight'] = nil
         safetensors.fill(other, one, names)
         local x = torch.LongTensor{{1, 5}, {3, 3}}
         assert.equal(0, largest(other:forward(x), net:forward(x)))
      end
      read['wte.weight'], read['lm_head.weight'] = nil, nil
      assert.error_matches(function() safetensors.fill(tied(), read, names) end,
         "^safetensors.fill: argument 'tensors': there is no '.*.weight'")
      net:get(3).weight = net:get(1).weight:clone() -- no longer shared
      read['wte.weight'] = net:get(1).weight
      assert.error_matches(function() safetensors.fill(net, read, names) end,
         "there is no 'lm_head.weight'")
   end)

   it('reports faults of a file', function()
      local path = os.tmpname()
      local function why(text)
         local file = assert(io.open(path, 'wb'))
         file:write(text)
         file:close()
         local ok, message = pcall(safetensors.load, path)
         assert.is_false(ok)
         return message
      end
      local function framed(header) return string.char(#header) .. ('\0'):rep(7) .. header end
      assert.matches('wanted a header of at most 0 bytes', why '')
      assert.matches('wanted a header', why(('\255'):rep(16)))
      assert.matches('wanted JSON', why(framed '{"a":'))
      assert.matches("'a' in .*wanted a known dtype, got F9", why(framed '{"a":{"dtype":"F9"}}'))
      assert.matches("'a' in .*do not fit the file",
         why(framed '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'))
      assert.matches("'a' in .*do not fit the file",
         why(framed '{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,0]}}'))
      os.remove(path)
      assert.matches('No such file', select(2, pcall(safetensors.load, '/nonexistent/x')))
   end)

   it('leaves a network as it was if a tensor is missing or has another size', function()
      local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh()):add(nn.Linear(3, 1))
      local before = net:getParameters():clone()
      local tensors = {['0.weight'] = torch.zeros(3, 2), ['0.bias'] = torch.zeros(3)}
      local _, missing = pcall(safetensors.fill, net, tensors)
      assert.matches("there is no '2%.%a+'", missing)
      tensors['2.bias'], tensors['2.weight'] = torch.zeros(1), torch.zeros(3, 1)
      local _, why = pcall(safetensors.fill, net, tensors)
      assert.matches("'2.weight' is 3x1, wanted 1x3", why)
      assert.equal(0, largest(before, (net:getParameters())))
      _, why = pcall(safetensors.fill, net, tensors, {'one'})
      assert.matches('got 1 names, wanted 2', why)
   end)
end)
