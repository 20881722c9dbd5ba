--- dpt.tensor.numbers: torch functions of plain numbers, such as torch.exp(2).
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local type = dptffi.type
local torch = class.torch

local function truncate(v) return v < 0 and math.ceil(v) or math.floor(v) end

--- Implementations of torch.NAME for number arguments, by name.
local functions = {
   abs = math.abs, sqrt = math.sqrt, exp = math.exp, log = math.log, sin = math.sin, cos = math.cos,
   tan = math.tan, asin = math.asin, acos = math.acos, atan = math.atan, sinh = math.sinh,
   cosh = math.cosh, tanh = math.tanh, floor = math.floor, ceil = math.ceil, trunc = truncate,
   rsqrt = function(v) return 1 / math.sqrt(v) end,
   sigmoid = function(v) return 1 / (1 + math.exp(-v)) end,
   frac = function(v) return v - truncate(v) end,
   round = function(v) return truncate(v + (v < 0 and -0.5 or 0.5)) end,
   log1p = function(v)
      local u = 1 + v
      return u == 1 and v or math.log(u) * v / (u - 1) -- accurate for small v (Kahan)
   end,
}

for name, f in pairs(functions) do
   local ofTensors = torch[name]
   torch[name] = function(a, ...)
      if type(a) == 'number' then return f(a) end
      return ofTensors(a, ...)
   end
end

local atan2, lerp = torch.atan2, torch.lerp
torch.atan2 = function(a, b, c)
   if type(a) == 'number' and type(b) == 'number' then return math.atan2(a, b) end
   return atan2(a, b, c)
end
torch.lerp = function(a, b, c, d)
   if type(a) == 'number' and type(b) == 'number' and type(c) == 'number' then
      return a + c * (b - a)
   end
   return lerp(a, b, c, d)
end

--- torch.pow(number, tensor): number ^ element; optionally with a leading result.
local pow, tpow = torch.pow, dptffi.C.dpt_op('tpow')
local function numberToTensor(r, v, x)
   dptffi.lib.map1(tpow, r, x, v, 0)
   return r
end
torch.pow = function(a, b, c)
   if type(a) == 'number' and core.isTensor(b) then
      return numberToTensor(core.fresh(b.kind_), a, b)
   elseif type(b) == 'number' and core.isTensor(a) and core.isTensor(c) then
      return numberToTensor(a, b, c)
   elseif type(a) == 'number' and type(b) == 'number' then
      return a ^ b
   end
   return pow(a, b, c)
end
