-- The kernel of nn.ScaledDotProductAttention, in host memory and on devices, against a plain
-- loop over doubles, for every real type.
local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local elements = require 'spec.support.elements'
local torch = dpt.torch
local ffi, lib = dptffi.ffi, dptffi.lib

local names = {}
for _, name in ipairs(elements.reals) do
   names[#names + 1] = name
   names[#names + 1] = elements.onDevice(name)
end
-- Allowed differences, relative to 1 + the largest number; reduced types round weights and results.
local allowed = {Double = 1e-12, Float = 1e-5, Half = 2 ^ -9, BFloat16 = 2 ^ -6}
local function allowedOf(name) return allowed[(name:gsub('^Cuda', ''))] or allowed.Float end

-- Layouts of NxHxLxE: each makes a function of these sizes and the tensor's type.
local layouts = {
   function(fill, typename, n, h, l, e) return fill(n, h, l, e):type(typename) end,
   function(fill, typename, n, h, l, e)
      return fill(n, l, h, e):type(typename):transpose(2, 3)
   end,
   function(fill, typename, n, h, l, e) -- a part of wider rows
      return fill(n, l, h, 3 * e + 2):type(typename):narrow(4, e + 1, e):transpose(2, 3)
   end,
   function(fill, typename, n, h, l, e) -- columns are not adjacent
      return fill(n, e, h, l):type(typename):transpose(2, 3):transpose(3, 4)
   end,
   function(fill, typename, n, h, l, e) -- every sequence is the same
      return fill(1, h, l, e):type(typename):expand(n, h, l, e)
   end,
}

local function choose(list) return list[torch.random(#list)] end

local function randn(...) return torch.randn(...) end
local function nans(...) return torch.Tensor(...):fill(0 / 0) end

-- Returns a double tensor's elements.
local function read(t) return t and t:double():contiguous() end

--- Returns out, save, gq, gk and gv by the definition.
-- @param output of forward, which backward reads
local function plain(c, output)
   local N, H, G, L, S, E, V = c.N, c.H, c.G, c.L, c.S, c.E, c.V
   local q, k, v, gout, mask = read(c.q), read(c.k), read(c.v), read(c.gout), c.mask
   output = read(output)
   mask = mask and read(mask:expand(N, H, L, S))
   local bytes = c.mask and c.mask:type():find 'Byte'
   local factor
   if c.dropout > 0 then
      factor = torch.DoubleTensor(N, H, L, S)
      lib.dropout_mask(factor, c.draw, c.dropout, 1 / (1 - c.dropout))
   end
   local out, save = torch.zeros(N, H, L, V), torch.zeros(N, H, L, 2)
   local gq, gk, gv = torch.zeros(N, H, L, E), torch.zeros(N, G, S, E), torch.zeros(N, G, S, V)
   local function data(t) return t and t:nElement() > 0 and t:data() end
   local Q, K, X, D, O = data(q), data(k), data(v), data(gout), data(output)
   local M, F = data(mask), data(factor)
   local Y, R, GQ, GK, GX = data(out), data(save), data(gq), data(gk), data(gv)
   local score, weight = {}, {}
   for row = 0, N * H * L - 1 do
      local l, h = row % L, math.floor(row / L) % H
      local group = math.floor(row / L / H) * G + math.floor(h * G / H)
      local max, sum, seen = -math.huge, 0, c.causal and math.min(S, l + 1 + c.offset) or S
      for s = 0, seen - 1 do
         local dot = 0
         for e = 0, E - 1 do dot = dot + Q[row * E + e] * K[(group * S + s) * E + e] end
         dot = dot * c.scale
         if bytes then dot = M[row * S + s] == 0 and -math.huge or dot
         elseif M then dot = dot + M[row * S + s] end
         score[s] = dot
         if dot > max then max = dot end
      end
      for s = 0, seen - 1 do
         weight[s] = score[s] == -math.huge and 0 or math.exp(score[s] - max)
         sum = sum + weight[s]
      end
      R[2 * row], R[2 * row + 1] = max, math.log(sum)
      local total = 0
      for i = 0, V - 1 do
         local y = 0
         for s = 0, seen - 1 do
            if weight[s] ~= 0 then
               weight[s] = i == 0 and weight[s] / sum or weight[s]
               y = y + weight[s] * (F and F[row * S + s] or 1) * X[(group * S + s) * V + i]
            end
         end
         Y[row * V + i] = y
         total = total + O[row * V + i] * D[row * V + i]
      end
      for s = 0, seen - 1 do
         if weight[s] ~= 0 then
            if V == 0 then weight[s] = weight[s] / sum end
            local kept, at, dot = F and F[row * S + s] or 1, group * S + s, 0
            for i = 0, V - 1 do
               dot = dot + D[row * V + i] * X[at * V + i]
               GX[at * V + i] = GX[at * V + i] + weight[s] * kept * D[row * V + i]
            end
            local g = weight[s] * (dot * kept - total) * c.scale
            for e = 0, E - 1 do
               GQ[row * E + e] = GQ[row * E + e] + g * K[at * E + e]
               GK[at * E + e] = GK[at * E + e] + g * Q[row * E + e]
            end
         end
      end
   end
   return {out, save, gq, gk, gv}
end

local results = {'out', 'save', 'gradQuery', 'gradKey', 'gradValue'}

--- Returns the same by dpt_attention_forward and _backward.
local function compute(c)
   local options = ffi.new 'dpt_attention'
   options.causal, options.offset, options.scale = c.causal and 1 or 0, c.offset, c.scale
   options.dropout, options.draw = c.dropout, c.draw
   local N, H, L, V = c.N, c.H, c.L, c.V
   local function result(...) return c.result(nans, c.typename, ...) end
   local out, save = result(N, H, L, V), c.q.new()
   if c.typename:find 'Half' or c.typename:find 'BFloat16' then
      save = torch[c.typename:find 'Cuda' and 'CudaTensor' or 'FloatTensor']()
   end
   local gq, gk, gv = result(N, H, L, c.E), result(N, c.G, c.S, c.E), result(N, c.G, c.S, V)
   lib.attention_forward(out, save, c.q, c.k, c.v, c.mask, options)
   lib.attention_backward(gq, gk, gv, c.q, c.k, c.v, c.mask, out, c.gout, save, options)
   return {out, save, gq, gk, gv}
end

--- Returns the largest difference, relative to 1 + the largest number; NaN differs from numbers.
local function distance(wanted, got)
   if wanted:nElement() == 0 then return got:nElement() == 0 and 0 or math.huge end
   wanted, got = read(wanted), read(got)
   local a, b, most, largest = wanted:data(), got:data(), 0, 0
   for i = 0, wanted:nElement() - 1 do
      local x, y = a[i], b[i]
      if x ~= y and (x == x or y == y) then
         local d = math.abs(x - y)
         most = d == d and math.max(most, d) or math.huge
      end
      if x == x and math.abs(x) < math.huge then largest = math.max(largest, math.abs(x)) end
   end
   return most / (1 + largest)
end

--- Completes a case with operands of a type: those that the case does not have.
local function operands(c, name)
   c.typename = 'torch.' .. name .. 'Tensor'
   c.dropout, c.offset, c.scale = c.dropout or 0, c.offset or 0, c.scale or 0.5
   c.draw = ffi.new('dpt_draw', {seed = 1234, offset = 5, first_row = c.first or 0})
   c.H, c.result = c.G * c.heads, c.result or layouts[1]
   local layout = c.layout or {layouts[1], layouts[1], layouts[1], layouts[1]}
   c.q = layout[1](randn, c.typename, c.N, c.H, c.L, c.E)
   c.k = layout[2](randn, c.typename, c.N, c.G, c.S, c.E)
   c.v = layout[3](randn, c.typename, c.N, c.G, c.S, c.V)
   c.gout = layout[4](randn, c.typename, c.N, c.H, c.L, c.V)
   return c
end

local function check(c, name)
   local got = compute(c)
   local wanted = plain(c, got[1])
   for i, what in ipairs(results) do
      assert.same(wanted[i]:size():totable(), got[i]:size():totable())
      local d = distance(wanted[i], got[i])
      if d > allowedOf(name) then
         error(('%s: %s differs by %g (N %d, H %d, G %d, L %d, S %d, E %d, V %d)'):format(name,
            what, d, c.N, c.H, c.G, c.L, c.S, c.E, c.V), 2)
      end
   end
   return got
end

--- Adds a random mask to a case with operands.
local function addMask(c)
   local size = {c.N, c.H, c.L, c.S}
   for d = 1, 4 do if choose{true, false} then size[d] = 1 end end
   local mask = torch.rand(unpack(size))
   local place = c.typename:find 'Cuda' and 'Cuda' or ''
   if choose{true, false} then
      c.mask = mask:gt(0.4):type('torch.' .. place .. 'ByteTensor')
   else
      mask[mask:gt(0.7)] = -math.huge
      c.mask = mask:type(c.typename)
      if size[3] == size[4] then c.mask = c.mask:transpose(3, 4) end
   end
end

describe('Attention', function()
   for _, name in ipairs(names) do
      it('equals the definition for random sizes, strides and options: ' .. name, function()
         torch.manualSeed(7)
         for _ = 1, 25 do
            local c = {N = choose{1, 2, 3}, G = choose{1, 2, 3}, heads = choose{1, 1, 2, 3},
               L = choose{1, 2, 7, 20, 33}, S = choose{1, 3, 8, 20, 41, 70},
               E = choose{1, 3, 8, 17}, V = choose{1, 4, 9, 16}, scale = choose{0.3, 1, -0.7},
               causal = choose{true, false}, dropout = choose{0, 0, 0.4}, first = choose{0, 11},
               layout = {choose(layouts), choose(layouts), choose(layouts), choose(layouts)},
               result = layouts[torch.random(4)]}
            c.offset = choose{0, 0, -3, 5, c.S - c.L, 2 ^ 50, -2 ^ 50}
            operands(c, name)
            if choose{true, false} then addMask(c) end
            check(c, name)
         end
      end)
   end

   -- Blocks of causal attention have 128 queries, all blocks about four million scores.
   it('equals the definition in several blocks of queries', function()
      torch.manualSeed(8)
      check(operands({N = 2, G = 2, heads = 2, L = 300, S = 200, E = 3, V = 2, causal = true,
         offset = -60, layout = {layouts[3], layouts[2], layouts[3], layouts[1]},
         result = layouts[2]}, 'CudaDouble'), 'CudaDouble')
   end)
   it('equals the definition in several blocks of sequences #noasan', function()
      torch.manualSeed(8)
      check(operands({N = 2, G = 1, heads = 2, L = 130, S = 8200, E = 1, V = 1,
         layout = {layouts[2], layouts[2], layouts[1], layouts[2]}}, 'Cuda'), 'Cuda')
   end)

   for _, name in ipairs(names) do
      it('accepts empty operands: ' .. name, function()
         for _, key in ipairs{'N', 'G', 'heads', 'L', 'S', 'E', 'V'} do
            for _, dropout in ipairs{0, 0.5} do
               local c = {N = 2, G = 2, heads = 2, L = 3, S = 4, E = 5, V = 6, dropout = dropout}
               c[key] = 0
               if key == 'G' then c.heads = 1 end
               check(operands(c, name), name)
            end
         end
      end)
      -- all numbers are exact in floats; many scores of a row are equal
      it('has the gradients of scores that share a large magnitude: ' .. name, function()
         torch.manualSeed(11)
         local function signs(...) return torch.rand(...):mul(2):floor():mul(2):add(-1) end
         for _, case in ipairs{{8, 8, -1e9}, {2 ^ 96, 1}, {-2 ^ 96, 1, 2 ^ 96}} do
            local c = operands({N = 1, G = 1, heads = 2, L = 5, S = 300, E = 1, V = 2, scale = 1},
               name)
            c.q:copy(signs(1, 2, 5, 1):mul(case[1]))
            c.k:copy(signs(1, 1, 300, 1):mul(case[2]))
            if case[3] then c.mask = torch.Tensor(1, 1, 1, 1):fill(case[3]):type(c.typename) end
            if case[1] == 8 or not name:find 'Half' then check(c, name) end
         end
      end)
      it('ignores keys that take no part, and returns NaN for a row with a NaN: ' .. name,
         function()
            torch.manualSeed(9)
            for _, causal in ipairs{true, false} do
               local c = operands({N = 1, G = 2, heads = 1, L = 4, S = 4, E = 3, V = 2,
                  causal = causal}, name)
               c.k[{1, 1, 4}] = 0 / 0
               if not causal then
                  local mask = torch.ones(1, 1, 4, 4)
                  for l = 1, 3 do mask[{1, 1, l, 4}] = 0 end
                  c.mask = mask:type(name:find 'Cuda' and 'torch.CudaByteTensor'
                     or 'torch.ByteTensor')
               end
               c.q[{1, 2, 2}] = 0 / 0
               local got = compute(c)
               local wanted = plain(c, got[1])
               got[2], wanted[2] = got[2]:narrow(4, 2, 1), wanted[2]:narrow(4, 2, 1) -- sums
               for i = 1, 2 do
                  assert(distance(wanted[i], got[i]) <= allowedOf(name), results[i])
                  local head = got[i]:double():narrow(2, 1, 1)
                  assert.equal(1, head:ne(head):narrow(3, 4, 1):min())
                  assert.equal(0, head:ne(head):narrow(3, 1, 3):max())
               end
            end
         end)
   end

   it('of a sequence has the same bits whatever the others are, in deterministic mode', function()
      finally(function() dpt.setDeterministic(false) end)
      dpt.setDeterministic(true)
      for _, name in ipairs{'Double', 'Cuda', 'CudaHalf'} do
         torch.manualSeed(10)
         local c = operands({N = 2, G = 1, heads = 2, L = 140, S = 30, E = 4, V = 5, causal = true,
            dropout = 0.3}, name)
         local all = compute(c)
         for n = 1, 2 do
            local one = setmetatable({N = 1, draw = ffi.new('dpt_draw', c.draw)}, {__index = c})
            one.draw.first_row = n - 1
            for _, field in ipairs{'q', 'k', 'v', 'gout'} do
               one[field] = c[field]:narrow(1, n, 1)
            end
            for i, t in ipairs(compute(one)) do
               assert.equal(0, distance(t, all[i]:narrow(1, n, 1)), name .. ' ' .. results[i])
            end
         end
      end
   end)
end)
