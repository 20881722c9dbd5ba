-- examples/gpt2.lua and gpt.lua: logits and losses of training are those of PyTorch (transformers'
-- GPT2LMHeadModel in double precision), with weights that both programs draw by the same formula.
local dpt = require 'dpt'
local torch, nn, optim = dpt.torch, dpt.nn, dpt.optim
local run = require 'spec.support.run'
local gpt2 = dofile 'examples/gpt2.lua'
local most = math.min(2, dpt.cutorch.getDeviceCount())

local SIZE = {vocabulary = 64, positions = 16, width = 32, layers = 2, heads = 4}

-- Returns a sequence of numbers from 0 to 1 (Park and Miller's generator).
local function generator()
   local state = 1
   return function()
      state = state * 16807 % 2147483647
      return state / 2147483647
   end
end

-- Returns weights by the names of transformers, and a batch of 4 rows of 17 tokens.
local function weights()
   local draw, tensors = generator(), {}
   local function add(name, ...)
      local shift = name:find 'ln_' and name:find 'weight$' and 1 or 0
      tensors[name] = torch.DoubleTensor(...):apply(function()
         return (draw() - 0.5) * 0.6 + shift
      end)
   end
   local C = SIZE.width
   add('wte.weight', SIZE.vocabulary, C)
   add('wpe.weight', SIZE.positions, C)
   local function both(name, inputs, outputs)
      add(name .. '.weight', inputs, outputs)
      add(name .. '.bias', outputs or inputs)
   end
   for i = 0, SIZE.layers - 1 do
      local prefix = 'h.' .. i .. '.'
      both(prefix .. 'ln_1', C)
      both(prefix .. 'attn.c_attn', C, 3 * C)
      both(prefix .. 'attn.c_proj', C, C)
      both(prefix .. 'ln_2', C)
      both(prefix .. 'mlp.c_fc', C, 4 * C)
      both(prefix .. 'mlp.c_proj', 4 * C, C)
   end
   both('ln_f', C)
   local rows = torch.LongTensor(4, SIZE.positions + 1):apply(function()
      return math.floor(draw() * SIZE.vocabulary) + 1
   end)
   return tensors, rows
end

-- Returns the path of a new folder, which is removed after the test.
local function folder()
   local path = os.tmpname()
   os.remove(path)
   dpt.paths.mkdir(path)
   finally(function() dpt.paths.rmall(path, 'yes') end)
   return path
end

-- Returns the network of 4 heads with the weights of a file that transformers could have written.
-- @param config? string: more entries of config.json
local function load(tensors, prefix, given, config)
   local path, named = folder(), {}
   for name, tensor in pairs(tensors) do named[(prefix or '') .. name] = tensor end
   nn.safetensors.save(path .. '/model.safetensors', named)
   local file = io.open(path .. '/config.json', 'w')
   file:write('{"n_head": 4, "activation_function": "gelu_new"', config or '', '}')
   file:close()
   return gpt2.load(path .. '/model.safetensors', given)
end

local LOSSES = {4.658754, 4.163138, 3.782920, 3.448756, 3.137751, 2.844482, 2.571802, 2.323678,
   2.100360, 1.895361, 1.704446, 1.527512, 1.363706, 1.212923, 1.072784, 0.944864, 0.834200,
   0.737745, 0.653769, 0.583649, 0.522922, 0.468904, 0.421807, 0.380491, 0.343524, 0.310634,
   0.281858, 0.256909, 0.234884, 0.215036, 0.197210, 0.181287, 0.166989, 0.154124, 0.142660,
   0.132532, 0.123524, 0.115374, 0.107927, 0.101143, 0.095005, 0.089450, 0.084398, 0.079785,
   0.075573, 0.071729, 0.068219, 0.065002, 0.062046, 0.059326}

-- Returns the losses of 50 steps of AdamW, with weight decay for matrices only and clipping at 1.
local function train(net, rows)
   local cuda = net:type():find 'Cuda'
   local function moved(x) return cuda and x:cuda() or x end
   local criterion = nn.CrossEntropyCriterion():type(net:type())
   local input = moved(rows:narrow(2, 1, SIZE.positions))
   local target = moved(rows:narrow(2, 2, SIZE.positions):contiguous():view(-1))
   local x, dx = net:getParameters()
   local config, losses = {learningRate = 0.003}, {}
   config.learningRates, config.weightDecays = nn.utils.parameterGroups(net, {
      {name = 'bias$', weightDecay = 0}, {class = 'LayerNorm', weightDecay = 0}}, 0.1)
   for step = 1, #LOSSES do
      local _, values = optim.adamw(function()
         net:zeroGradParameters()
         local loss = criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         nn.utils.clipGradNorm(dx, 1)
         return loss, dx
      end, x, config)
      losses[step] = values[1]
   end
   return losses
end

local function assertNear(wanted, got, tolerance)
   assert.equal(#wanted, #got)
   for i, value in ipairs(wanted) do assert.near(value, got[i], tolerance) end
end

describe('examples/gpt2.lua', function()
   before_each(function() torch.setdefaulttensortype 'torch.DoubleTensor' end)
   after_each(function() torch.setdefaulttensortype 'torch.DoubleTensor' end)

   it("has PyTorch's logits, with weights of either prefix", function()
      for _, prefix in ipairs{'', 'transformer.'} do
         local tensors, rows = weights()
         tensors['h.0.attn.bias'] = torch.ones(1, 1, 16, 16) -- the mask in older files
         local scores = load(tensors, prefix):forward(rows:narrow(2, 1, SIZE.positions))
         assertNear({1.535233558, 0.427092387, 0.123844908, -0.845466951, 1.717656852, 0.095661928,
            0.137900503, -0.032229379}, scores[64]:narrow(1, 1, 8):totable(), 1e-8)
         assertNear({0.391672371, 0.002176811, 0.790502216, -0.393279372},
            scores[1]:narrow(1, 1, 4):totable(), 1e-8)
         assert.near(4319.90280898, scores:pow(2):sum(), 1e-6)
      end
   end)

   it("has PyTorch's losses over 50 steps, on the host and on devices", function()
      local tensors, rows = weights()
      assertNear(LOSSES, train(load(tensors), rows), 2e-6)
      torch.setdefaulttensortype 'torch.FloatTensor'
      assertNear(LOSSES, train(load(tensors, '', {recompute = true}):cuda(), rows), 1e-3)
      local devices = torch.range(1, most):totable()
      local net = nn.DataParallelTable(1, true):add(load(tensors):cuda(), devices)
      assertNear(LOSSES, train(net, rows), 1e-3)
   end)

   it('reads the weights that it writes, with the names and layouts of transformers', function()
      local tensors, rows = weights()
      local net, path = load(tensors), folder() .. '/new/model.safetensors'
      gpt2.save(path, net)
      local written, count = nn.safetensors.load(path), 0
      for name, tensor in pairs(tensors) do
         assert.is_true(tensor:equal(written['transformer.' .. name]), name)
         count = count + 1
      end
      for _ in pairs(written) do count = count - 1 end
      assert.equal(0, count)
      local input = rows:narrow(2, 1, SIZE.positions)
      assert.is_true(net:forward(input):equal(gpt2.load(path):forward(input)))
   end)

   it('rejects files of other networks', function()
      local tensors = weights()
      assert.error_matches(function() load(tensors, '', {}, ', "layer_norm_epsilon": 1e-6') end,
         'config.json: layer_norm_epsilon is 1e%-06, wanted 1e%-05')
      tensors['lm_head.weight'] = tensors['wte.weight']:clone()
      load(tensors)
      tensors['lm_head.weight']:mul(2)
      assert.error_matches(function() load(tensors) end, 'lm_head.weight differs from wte.weight')
      tensors['lm_head.weight'] = nil
      tensors['h.1.ln_2.bias'] = nil
      assert.error_matches(function() load(tensors) end, "there is no 'h.1.ln_2.bias'")
      tensors['wte.weight'] = nil
      assert.error_matches(function() load(tensors) end,
         'has no wte.weight, .*wanted weights of GPT')
   end)

   it('samples with the cache what it samples without', function()
      local tensors, rows = weights()
      local net = load(tensors)
      for _, given in ipairs{{temperature = 0}, {temperature = 1.5},
         {temperature = 0.7, top = 5}} do
         local prompt = rows[1]:narrow(1, 1, 3)
         torch.manualSeed(3)
         local got = gpt2.sample(net, prompt, 12, given)
         torch.manualSeed(3)
         local wanted = prompt:totable()
         for _ = 1, 12 do -- one token of a sample without positions in the cache
            wanted = gpt2.sample(net, torch.LongTensor(wanted), 1, given):totable()
         end
         assert.same(wanted, got:totable())
      end
   end)

   it('goes on with half of the positions when they are used up', function()
      local tensors, rows = weights()
      local net = load(tensors)
      local text = gpt2.sample(net, rows[1], 40, {temperature = 0})
      assert.equal(57, text:size(1))
      for i = 0, 39 do
         local count = 8 + i % 9 -- positions that the network sees: 8 to 16 of them
         local scores = net:forward(text:narrow(1, 18 + i - count, count):view(1, count))[-1]
         local _, best = scores:max(1)
         assert.equal(best[1], text[18 + i])
      end
   end)
end)

-- Returns the output of examples/gpt.lua.
local function example(before, ...)
   local words = {'--width', '16', '--layers', '1', '--positions', '16', '--batch', '4', ...}
   return run.lua(("%s\narg = {'%s'}\ndofile 'examples/gpt.lua'"):format(before,
      table.concat(words, "', '")), {DPT_DEVICES = os.getenv 'DPT_DEVICES'})
end

describe('examples/gpt.lua', function()
   for _, precision in ipairs{'float', 'bfloat16'} do
      it('resumes with the bits of a run that was not interrupted, ' .. precision, function()
         local path = folder()
         local function trained(name, before, ...)
            return example(before, '--steps', '6', '--every', '3', '--dropout', '0.1', '--sample',
               '9', '--devices', tostring(most), '--precision', precision, '--save',
               path .. '/' .. name, ...)
         end
         local whole = trained('whole', '')
         assert.is_truthy(whole:find 'step 6: .*\nvalidation loss: %d%.%d%d%d%d\n$', whole)
         local first = trained('parts', [[
            require 'dpt'
            local save = torch.save
            function torch.save(...) save(...) error 'interrupted' end]])
         assert.is_truthy(first:find 'step 3: ' and first:find 'interrupted', first)
         local second = trained('parts', '', '--resume')
         assert.equal(whole:match '\nvalidation loss.*', second:match '\nvalidation loss.*')
         local wanted, got = torch.load(path .. '/whole'), torch.load(path .. '/parts')
         assert.equal(6, got.step)
         assert.same(wanted.rows, got.rows)
         assert.is_true(wanted.model:getParameters():equal(got.model:getParameters()))
         assert.is_true(wanted.config.v:equal(got.config.v))
         assert.equal('torch.CudaTensor', got.model:get(1).weight:type())
         if precision == 'bfloat16' then -- a checkpoint continues in another precision
            local last = trained('parts', '', '--resume', '--steps', '9', '--precision', 'half')
            assert.is_truthy(last:find 'step 9: .*\nvalidation loss: %d%.%d%d%d%d\n$', last)
            local loss = last:match 'validation loss: ([%d.]+)\n$'
            assert.near(got.rows[2][2], tonumber(loss), 0.2)
         end
      end)
   end

   it('writes weights that it begins with', function()
      local file = folder() .. '/model.safetensors'
      local function same(...)
         return example('', '--sample', '20', ...):match '\n\n.*$'
      end
      local first = same('--steps', '2', '--to', file)
      assert.is_string(first)
      assert.equal(first, same('--steps', '0', '--from', file))
   end)
end)
