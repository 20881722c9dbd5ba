-- gpt2: the network GPT-2, its weights in the files of Hugging Face's transformers, and sampling.
--
--   local gpt2 = dofile 'examples/gpt2.lua'
--   local net = gpt2.network{vocabulary = 256, positions = 128, width = 128, layers = 4, heads = 4}
--   net:forward(torch.LongTensor{{1, 2, 3}})     -- scores of the next token: 3 x 256
--   gpt2.save('gpt2/model.safetensors', net)     -- GPT2LMHeadModel.from_pretrained 'gpt2' reads it
--   net = gpt2.load 'gpt2/model.safetensors'
--   gpt2.sample(net, torch.LongTensor{1, 2, 3}, 100, {temperature = 0.8, top = 40})
--
-- Invariant: the output layer has the weight of the token embedding. Tokens are numbered from 1.
-- The folder of model.safetensors has a file config.json with the number of heads.
require 'dpt'
local json = require 'dpt.profiler.json'
local nn, paths = nn, paths

local gpt2 = {}

-- Returns x + parts(x).
local function residual(...)
   local branch = nn.Sequential()
   for _, part in ipairs{...} do branch:add(part) end
   return nn.Sequential():add(nn.ConcatTable():add(nn.Identity()):add(branch)):add(nn.CAddTable())
end

-- Draws a layer's weight as GPT-2 does and sets its bias to 0.
local function initialize(layer, deviation)
   layer.weight:normal(0, deviation)
   if layer.bias then layer.bias:zero() end
end

local function block(size)
   local width = size.width
   local attention = nn.MultiheadAttention(width, size.heads, {causal = true,
      dropout = size.dropout, batchFirst = true})
   local first, second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
   local small = 0.02 / math.sqrt(2 * size.layers)
   for _, layer in ipairs{attention:get(1), first} do initialize(layer, 0.02) end
   for _, layer in ipairs{attention:get(2), second} do initialize(layer, small) end
   local drops = size.dropout > 0
   local result = nn.Sequential()
      :add(residual(nn.LayerNorm(width), attention, drops and nn.Dropout(size.dropout) or nil))
      :add(residual(nn.LayerNorm(width), first, nn.GELU 'tanh', second,
         drops and nn.Dropout(size.dropout) or nil))
   return size.recompute and nn.Recompute(result) or result
end

--- Returns a network (N, T) -> (N * T, vocabulary): the scores of each next token.
-- @param given vocabulary, positions (most tokens of a text), width, layers, heads, dropout (0),
--    recompute (false: keep the activations of all blocks)
function gpt2.network(given)
   local size = setmetatable({dropout = given.dropout or 0}, {__index = given})
   local tokens = nn.LookupTable(size.vocabulary, size.width)
   local positions = nn.PositionEmbedding(size.positions, size.width)
   initialize(tokens, 0.02)
   initialize(positions, 0.02)
   local net = nn.Sequential():add(tokens):add(positions)
   if size.dropout > 0 then net:add(nn.Dropout(size.dropout)) end
   for _ = 1, size.layers do net:add(block(size)) end
   local scores = nn.Linear(size.width, size.vocabulary, false)
   scores.weight, scores.gradWeight = tokens.weight, tokens.gradWeight
   return net:add(nn.LayerNorm(size.width)):add(scores):add(nn.View(-1, size.vocabulary))
end

--- Returns the most tokens that a network of gpt2.network takes.
function gpt2.positions(net)
   return net:findModules('nn.PositionEmbedding')[1].weight:size(1)
end

-- Weights ----------------------------------------------------------------------------------------

local PARTS = {'ln_1', 'attn', 'ln_2', 'mlp.c_fc', 'mlp.c_proj'}

-- Returns the names in nn.safetensors of the modules with weights, in their order.
local function names(layers)
   local list = {'wte', 'wpe'}
   for i = 0, layers - 1 do
      for _, name in ipairs(PARTS) do list[#list + 1] = ('h.%d.%s'):format(i, name) end
   end
   list[#list + 1], list[#list + 2] = 'ln_f', 'lm_head'
   return list
end

local renamed = {{'attn.in_proj_', 'attn.c_attn.'}, {'attn.out_proj.', 'attn.c_proj.'}}

-- Returns a tensor in the other layout: transformers stores these weights as inputs x outputs.
local function converted(name, tensor)
   return name:find 'c_%l+%.weight$' and tensor:t():contiguous() or tensor
end

--- Writes the weights to a file, and the sizes to config.json in its folder.
function gpt2.save(path, net)
   local heads = net:findModules 'nn.MultiheadAttention'
   local tensors = {}
   for name, tensor in pairs(nn.safetensors.tensors(net, names(#heads))) do
      for _, pair in ipairs(renamed) do name = name:gsub(pair[1], pair[2], 1) end
      if name ~= 'lm_head.weight' then
         tensors['transformer.' .. name] = converted(name, tensor)
      end
   end
   local vocabulary, width = unpack(tensors['transformer.wte.weight']:size():totable())
   paths.mkdir(paths.dirname(path))
   nn.safetensors.save(path, tensors)
   local config = {model_type = 'gpt2', architectures = {'GPT2LMHeadModel'}, n_embd = width,
      vocab_size = vocabulary, n_positions = gpt2.positions(net), n_layer = #heads,
      n_head = heads[1].numHeads, bos_token_id = vocabulary - 1, eos_token_id = vocabulary - 1}
   local file = assert(io.open(paths.concat(paths.dirname(path), 'config.json'), 'w'))
   assert(file:write(json.encode(config), '\n'))
   assert(file:close())
end

-- Settings of config.json that gpt2.network has.
local SETTINGS = {activation_function = 'gelu_new', layer_norm_epsilon = 1e-5,
   scale_attn_weights = true, scale_attn_by_inverse_layer_idx = false}

-- Returns the number of heads in config.json. Without this file, heads are 64 wide, as those of all
-- published sizes of GPT-2.
local function headsOf(path, width)
   local name = paths.concat(paths.dirname(path), 'config.json')
   local file = io.open(name)
   if not file then return width / 64 end
   local config = json.decode(file:read '*a', name)
   file:close()
   for key, wanted in pairs(SETTINGS) do
      if config[key] ~= nil and config[key] ~= wanted then
         error(('%s: %s is %s, wanted %s'):format(name, key, config[key], wanted), 0)
      end
   end
   return config.n_head
end

--- Returns the network with the weights of a file.
-- @param given? table: dropout, recompute
function gpt2.load(path, given)
   local tensors, layers = {}, 0
   for name, tensor in pairs(nn.safetensors.load(path)) do
      tensor, name = converted(name, tensor), name:gsub('^transformer%.', '')
      for _, pair in ipairs(renamed) do name = name:gsub(pair[2], pair[1], 1) end
      layers = math.max(layers, (tonumber(name:match '^h%.(%d+)%.') or -1) + 1)
      tensors[name] = tensor
   end
   if not (tensors['wte.weight'] and tensors['wpe.weight'] and layers > 0) then
      error(path .. ' has no wte.weight, wpe.weight or h.0: wanted weights of GPT-2', 0)
   end
   local head = tensors['lm_head.weight']
   if head and not head:equal(tensors['wte.weight']) then
      error(path .. ': lm_head.weight differs from wte.weight, wanted tied weights', 0)
   end
   local vocabulary, width = unpack(tensors['wte.weight']:size():totable())
   given = given or {}
   local net = gpt2.network{vocabulary = vocabulary, width = width, layers = layers,
      positions = tensors['wpe.weight']:size(1), heads = headsOf(path, width),
      dropout = given.dropout, recompute = given.recompute}
   return nn.safetensors.fill(net, tensors, names(layers))
end

-- Sampling ---------------------------------------------------------------------------------------

-- Draws a token from scores: of the `top` highest ones, or of all.
local function draw(scores, temperature, top)
   local indices
   if top > 0 and top < scores:size(1) then
      scores, indices = scores:topk(top, 1, true, true)
   end
   if temperature == 0 then return (indices or select(2, scores:max(1)))[1] end
   local odds = scores:add(-scores:max()):div(temperature):exp()
   local i = torch.multinomial(odds, 1)[1]
   return indices and indices[i] or i
end

--- Returns a text continued by the network, one token at a time, each drawn from torch's generator.
-- When the positions are used up, the network goes on with the last half of them.
-- @param prompt LongTensor: one token at least
-- @param count number of tokens to add
-- @param given? table: temperature (1; 0 takes the likeliest token), top (0: draw from all tokens;
--    else from this many likeliest ones)
-- @return LongTensor: prompt and continuation
function gpt2.sample(net, prompt, count, given)
   local temperature, top = given and given.temperature or 1, given and given.top or 0
   local positions, length, used = gpt2.positions(net), prompt:nElement(), nil
   if prompt:nElement() == 0 then error('gpt2.sample: the prompt has no tokens', 2) end
   local text = torch.LongTensor(length + count)
   text:narrow(1, 1, length):copy(prompt)
   net:evaluate()
   while length < text:size(1) do
      local new = 1
      if not used or used == positions then
         new, used = length <= positions and length or math.max(1, math.floor(positions / 2)), 0
         nn.utils.beginCache(net, positions)
      end
      local output = net:forward(text:narrow(1, length - new + 1, new):view(1, new))
      used, length = used + new, length + 1
      text[length] = draw(output[-1]:double(), temperature, top)
   end
   nn.utils.endCache(net)
   return text
end

return gpt2
