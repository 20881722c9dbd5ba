--- Rows of `scripts/bench peers` about single layers, forward and backward, and about clipping;
-- peer.py has PyTorch's side of each by its name.
--
-- Invariant: a row has the fields of peers/tensors.lua. Backward computes all gradients; those of
-- parameters are added to.
local rows = {}

local function add(name, title, moves, make, ...)
   local size = torch.LongStorage{...}
   rows[#rows + 1] = {
      name = 'layer_' .. name, title = title .. ', forward and backward', asked = 1,
      threads = {1, 2}, moves = moves * 4 * torch.FloatTensor(size):nElement(),
      start = function()
         local m, x, g = make():float(), torch.randn(size):float(), torch.randn(size):float()
         return function()
            m:forward(x)
            m:backward(x, g)
         end
      end,
   }
end

-- forward reads x and writes y; backward reads x (or y) and g, and writes the input's gradient
add('norm', 'LayerNorm(1024)', 5, function() return nn.LayerNorm(1024) end, 8192, 1024)
add('group_norm', 'GroupNorm(32, 256)', 5, function() return nn.GroupNorm(32, 256) end,
   32, 256, 32, 32)
add('gelu', 'GELU', 5, function() return nn.GELU() end, 8192, 1024)
add('gelu_tanh', "GELU('tanh')", 5, function() return nn.GELU 'tanh' end, 8192, 1024)
add('silu', 'SiLU', 5, function() return nn.SiLU() end, 8192, 1024)
add('softmax', 'SoftMax(-1)', 5, function() return nn.SoftMax(-1) end, 64, 128, 1024)

-- Causal attention computes about half of the scores: two products in forward, five in backward.
for _, case in ipairs{{64, 16}, {256, 4}, {1024, 1}, {4096, 1}} do
   local length, batch = unpack(case)
   rows[#rows + 1] = {
      name = 'layer_attention_' .. length, asked = 1, threads = {1, 2},
      title = ('causal attention, batch %d, 12 heads of 64, length %d, forward and backward')
         :format(batch, length),
      flops = 7 * 2 * 64 * batch * 12 * length * (length + 1) / 2,
      start = function()
         local m, list = nn.ScaledDotProductAttention{causal = true}:float(), {}
         for i = 1, 4 do list[i] = torch.randn(batch, 12, length, 64):float() end
         local g = table.remove(list)
         return function()
            m:forward(list)
            m:backward(list, g)
         end
      end,
   }
end

rows[#rows + 1] = {
   name = 'layer_embedding', title = 'Embedding(50000, 512) of 8192 indices, forward and backward',
   asked = 1, threads = {1, 2},
   start = function()
      local m, x = nn.Embedding(50000, 512):float(), torch.LongTensor(64, 128):random(50000)
      local g = torch.randn(64, 128, 512):float()
      return function()
         m:forward(x)
         m:backward(x, g)
      end
   end,
}

-- reads the gradient twice and writes it; the norm of the next step is that of the clipped one
rows[#rows + 1] = {
   name = 'clip_norm', title = 'clipping of 32 M by norm', asked = 1, threads = {1, 2},
   moves = 3 * 4 * 32e6,
   start = function()
      local g, max = torch.randn(32e6):float(), 5000
      return function()
         max = max * 0.999
         nn.utils.clipGradNorm(g, max)
      end
   end,
}

return rows
