--- dpt.tensor.pointwise: torch.add, x:add and all other element by element operations.
--
-- Invariant: each pattern of arguments is read by one function below, which serves the torch
-- function and the method. The function without a result makes a new tensor; the method without one
-- changes its own tensor (comparisons return a new ByteTensor in both forms). Operations go by
-- their numbers in csrc/ops/map.def. These are hot paths: plain tests, no varargs, no tables.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local C, lib = dptffi.C, dptffi.lib
local type = dptffi.type
local map1, map2, map3 = lib.map1, lib.map2, lib.map3
local istype, tensor, fresh = dptffi.ffi.istype, core.tensorType, core.fresh
local usage = core.usage
local torch, BYTE, ON_DEVICE = class.torch, core.BYTE, core.ON_DEVICE

local function op(name)
   local number = C.dpt_op(name)
   assert(number >= 0, name)
   return number
end

--- A number argument in another guise: int64 C data or a string, as Lua takes it. nil: it is none.
local function numeric(v)
   local kind = type(v)
   return (kind == 'cdata' or kind == 'string') and tonumber(v) or nil
end

--- Makes torch.NAME and the method NAME for each of the names by make(name, inPlace).
local function define(names, make)
   for name in names:gmatch('%S+') do
      torch[name] = make(name, false)
      core.method(name, make(name, true))
   end
end

--- The result if none is given.
local function result(inPlace, x) return inPlace and x or fresh(x.kind_) end

--- [r] x
local function unary(number)
   return function(name, inPlace)
      return function(a, b)
         local r, x = a, b
         if b == nil then r, x = nil, a end
         if not istype(tensor, x) or (r and not istype(tensor, r)) then
            usage(name, '[result] tensor', a, b)
         end
         r = r or result(inPlace, x)
         map1(number, r, x, 0, 0)
         return r
      end
   end
end

--- [r] x number
local function byNumber(number)
   return function(name, inPlace)
      return function(a, b, c)
         local r, x, v = a, b, c
         if c == nil then r, x, v = nil, a, b end
         v = type(v) == 'number' and v or numeric(v)
         if not v or not istype(tensor, x) or (r and not istype(tensor, r)) then
            usage(name, '[result] tensor number', a, b, c)
         end
         r = r or result(inPlace, x)
         map1(number, r, x, v, 0)
         return r
      end
   end
end

--- [r] x y
local function byTensor(number)
   return function(name, inPlace)
      return function(a, b, c)
         local r, x, y = a, b, c
         if c == nil then r, x, y = nil, a, b end
         if not istype(tensor, x) or not istype(tensor, y) or (r and not istype(tensor, r)) then
            usage(name, '[result] tensor tensor', a, b, c)
         end
         r = r or result(inPlace, x)
         map2(number, r, x, y, 0, 0)
         return r
      end
   end
end

--- [r] x number | [r] x y
local function byEither(number, pair)
   return function(name, inPlace)
      return function(a, b, c)
         local r, x, y = a, b, c
         if c == nil then r, x, y = nil, a, b end
         if not istype(tensor, x) or (r and not istype(tensor, r)) then
            usage(name, '[result] tensor (number | tensor)', a, b, c)
         end
         r = r or result(inPlace, x)
         if istype(tensor, y) then
            map2(pair, r, x, y, 0, 0)
            return r
         end
         y = type(y) == 'number' and y or numeric(y)
            or usage(name, '[result] tensor (number | tensor)', a, b, c)
         map1(number, r, x, y, 0)
         return r
      end
   end
end

--- [r] x number | [r] x [number] y: x + number, x + number * y
local function scaled(number, pair)
   return function(name, inPlace)
      local wanted = '[result] tensor (number | [number] tensor)'
      return function(a, b, c, d)
         if type(b) == 'number' and d == nil and istype(tensor, a) and istype(tensor, c) then
            -- x:add(v, y), the hottest path of all: as few steps as can be
            local out = inPlace and a or fresh(a.kind_)
            if C.dpt_map2(pair, out, a, c, b, 0) ~= 0 then map2(pair, out, a, c, b, 0) end
            return out
         end
         local r, x, v, y = a, b, c, d
         if d == nil then
            if c == nil then
               r, x, v, y = nil, a, 1, b
            elseif istype(tensor, b) then
               v, y = 1, c
            else
               r, x, v, y = nil, a, b, c
            end
         end
         if type(v) ~= 'number' then v = numeric(v) or usage(name, wanted, a, b, c, d) end
         if not istype(tensor, x) or (r and not istype(tensor, r)) then
            usage(name, wanted, a, b, c, d)
         end
         r = r or result(inPlace, x)
         if istype(tensor, y) then
            map2(pair, r, x, y, v, 0)
            return r
         end
         y = type(y) == 'number' and y or numeric(y)
         if not y or d ~= nil or (c ~= nil and r == nil) then usage(name, wanted, a, b, c, d) end
         map1(number, r, x, y, 0)
         return r
      end
   end
end

--- [r] x [number] y z: x + number * (y, z)
local function threefold(number)
   return function(name, inPlace)
      local wanted = '[result] tensor [number] tensor tensor'
      return function(a, b, c, d, e)
         local r, x, v, y, z = a, b, c, d, e
         if e == nil then
            if d == nil then
               r, x, v, y, z = nil, a, 1, b, c
            elseif istype(tensor, b) then
               v, y, z = 1, c, d
            else
               r, x, v, y, z = nil, a, b, c, d
            end
         end
         v = type(v) == 'number' and v or numeric(v)
         if not v or not istype(tensor, x) or not istype(tensor, y) or not istype(tensor, z)
            or (r and not istype(tensor, r)) then
            usage(name, wanted, a, b, c, d, e)
         end
         r = r or result(inPlace, x)
         map3(number, r, x, y, z, v, 0)
         return r
      end
   end
end

--- [r] x number number
local function byTwoNumbers(number)
   return function(name, inPlace)
      return function(a, b, c, d)
         local r, x, v, w = a, b, c, d
         if d == nil then r, x, v, w = nil, a, b, c end
         v, w = type(v) == 'number' and v or numeric(v), type(w) == 'number' and w or numeric(w)
         if not v or not w or not istype(tensor, x) or (r and not istype(tensor, r)) then
            usage(name, '[result] tensor number number', a, b, c, d)
         end
         r = r or result(inPlace, x)
         map1(number, r, x, v, w)
         return r
      end
   end
end

--- [r] x (number | y): r is a ByteTensor (on x's side), or a given one of bytes or x's type
local function comparison(number, pair)
   return function(name)
      local wanted = '[result] tensor (number | tensor)'
      return function(a, b, c)
         local r, x, y = a, b, c
         if c == nil then r, x, y = nil, a, b end
         if not istype(tensor, x) or (r and not istype(tensor, r)) then
            usage(name, wanted, a, b, c)
         end
         r = r or fresh(x.kind_ >= ON_DEVICE and BYTE + ON_DEVICE or BYTE)
         if istype(tensor, y) then
            map2(pair, r, x, y, 0, 0)
            return r
         end
         y = type(y) == 'number' and y or numeric(y) or usage(name, wanted, a, b, c)
         map1(number, r, x, y, 0)
         return r
      end
   end
end

for _, name in ipairs{'abs', 'sign', 'neg', 'cinv', 'sqrt', 'rsqrt', 'exp', 'log', 'log1p', 'sin',
   'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'sigmoid', 'floor', 'ceil',
   'trunc', 'round', 'frac'} do
   define(name, unary(op(name)))
end

for _, name in ipairs{'mul', 'div', 'fmod', 'remainder', 'lshift', 'rshift', 'bitand', 'bitor',
   'bitxor'} do
   define(name, byNumber(op(name)))
end

--- [r] x number | [r] number x
define('pow', function(name, inPlace)
   local number, power, plain = op 'pow', op 'tpow', byNumber(op 'pow')(name, inPlace)
   return function(a, b, c)
      if c == nil and type(b) == 'number' and istype(tensor, a) then
         local r = inPlace and a or fresh(a.kind_)
         map1(number, r, a, b, 0)
         return r
      end
      local r, v, x = a, b, c
      if c == nil then r, v, x = nil, a, b end
      v = type(v) == 'number' and v or numeric(v)
      if not v or not istype(tensor, x) or (r and not istype(tensor, r)) then
         return plain(a, b, c)
      end
      r = r or result(inPlace, x)
      map1(power, r, x, v, 0)
      return r
   end
end)
define('mod', byNumber(op 'fmod'))

for _, name in ipairs{'cmul', 'cdiv', 'cpow', 'cfmod', 'cremainder', 'clshift', 'crshift',
   'cbitand', 'cbitor', 'cbitxor', 'atan2'} do
   define(name, byTensor(op(name)))
end
define('cmod', byTensor(op 'cfmod'))

define('add', scaled(op 'add', op 'cadd'))
define('csub', scaled(op 'sub', op 'csub'))
define('cmax', byEither(op 'cmaxvalue', op 'cmax'))
define('cmin', byEither(op 'cminvalue', op 'cmin'))
define('addcmul', threefold(op 'addcmul'))
define('addcdiv', threefold(op 'addcdiv'))
define('clamp', byTwoNumbers(op 'clamp'))
for _, name in ipairs{'eq', 'ne', 'lt', 'le', 'gt', 'ge'} do
   define(name, comparison(op(name), op('c' .. name)))
end

--- [r] x y number
define('lerp', function(name, inPlace)
   local number = op 'lerp'
   return function(a, b, c, d)
      local r, x, y, v = a, b, c, d
      if d == nil then r, x, y, v = nil, a, b, c end
      v = type(v) == 'number' and v or numeric(v)
      if not v or not istype(tensor, x) or not istype(tensor, y)
         or (r and not istype(tensor, r)) then
         usage(name, '[result] tensor tensor number', a, b, c, d)
      end
      r = r or result(inPlace, x)
      map2(number, r, x, y, v, 0)
      return r
   end
end)

--- fill and zero change what they are given, also as torch functions.
core.both('fill', function(t, v)
   v = type(v) == 'number' and v or numeric(v)
   if not v or not istype(tensor, t) then usage('fill', 'tensor number', t, v) end
   lib.fill(t, v)
   return t
end)
core.both('zero', function(t)
   if not istype(tensor, t) then usage('zero', 'tensor', t) end
   lib.fill(t, 0)
   return t
end)
