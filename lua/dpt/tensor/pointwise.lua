--- dpt.tensor.pointwise: torch.add, x:add and all other element-wise operations.
--
-- Invariant: one function below parses each argument pattern, for both the torch function and the
-- method. If no result is given, the function returns a new tensor and the method modifies its own
-- tensor in place (comparisons return a new ByteTensor in both forms). Operations are identified by
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

--- Converts an int64 cdata or a numeric string to a number; returns nil for anything else.
local function numeric(v)
   local kind = type(v)
   return (kind == 'cdata' or kind == 'string') and tonumber(v) or nil
end

--- Defines torch.NAME and the method NAME as make(name, inPlace), for each of the names.
local function define(names, make)
   for name in names:gmatch('%S+') do
      torch[name] = make(name, false)
      core.method(name, make(name, true))
   end
end

--- Returns the default result: x itself in place, else a new tensor of its type.
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
            -- x:add(v, y), the hottest path: as few steps as possible
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

--- [r] x (number | y): r defaults to a ByteTensor (on x's side); may also have x's type
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
   'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'erf', 'sigmoid', 'floor',
   'ceil', 'trunc', 'round', 'frac'} do
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

--- x -> a ByteTensor on x's side
core.define('isnan', function(x)
   if not istype(tensor, x) then usage('isnan', 'tensor', x) end
   return torch.ne(x, x)
end)
core.define('isfinite', function(x)
   if not istype(tensor, x) then usage('isfinite', 'tensor', x) end
   return torch.mul(x, 0):eq(0)
end)
core.define('isinf', function(x)
   if not istype(tensor, x) then usage('isinf', 'tensor', x) end
   return core.elementOf(x.kind_).isReal and torch.abs(x):eq(math.huge) or torch.isnan(x)
end)

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

--- fill and zero modify their argument in place, also as torch functions.
core.define('fill', function(t, v)
   v = type(v) == 'number' and v or numeric(v)
   if not v or not istype(tensor, t) then usage('fill', 'tensor number', t, v) end
   lib.fill(t, v)
   return t
end)
core.define('zero', function(t)
   if not istype(tensor, t) then usage('zero', 'tensor', t) end
   lib.fill(t, 0)
   return t
end)

--- Tags shared by the reference entries of element-wise functions.
-- @pattern unary
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @return a tensor of x's size and type; as a method, x modified in place
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern number
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @param value number: the other operand
-- @return a tensor of x's size and type; as a method, x modified in place
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern pair
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @param y tensor: as many elements as x
-- @return a tensor of x's size and type; as a method, x modified in place
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern scaled
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @param factor? number: multiplies the tensor that follows (1)
-- @param value number or tensor: as many elements as x
-- @return a tensor of x's size and type; as a method, x modified in place
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern either
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @param value number or tensor: as many elements as x
-- @return a tensor of x's size and type; as a method, x modified in place
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern threefold
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @param factor? number: 1
-- @param y tensor: as many elements as x
-- @param z tensor: as many elements as x
-- @return a tensor of x's size and type; as a method, x modified in place
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern comparison
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @param value number or tensor: as many elements as x
-- @return a new ByteTensor (CudaByteTensor) of zeros and ones, as a function and as a method
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern classification
-- @within pointwise
-- @param x tensor: of any size and type
-- @return a new ByteTensor (CudaByteTensor) of zeros and ones, as a function and as a method
-- @raise if the argument is not a tensor
-- @follows PyTorch's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern pointcall
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @return a tensor of x's size and type; as a method, x modified in place
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of element-wise functions.
-- @pattern selfpoint
-- @within pointwise
-- @param x tensor: modified in place
-- @return x
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Returns the absolute value of each element.
-- @function torch.abs
-- @as unary
-- @also Tensor:abs()
-- @usage torch.abs(torch.Tensor{-2, 3}) --> [2 3]

--- Returns the sign of each element: -1, 0 or 1.
-- @function torch.sign
-- @as unary
-- @also Tensor:sign()
-- @usage torch.sign(torch.Tensor{-2, 0, 3}) --> [-1 0 1]

--- Returns the negation of each element.
-- @function torch.neg
-- @as unary
-- @also Tensor:neg()
-- @usage torch.neg(torch.Tensor{-2, 3}) --> [2 -3]

--- Returns the reciprocal of each element.
-- @function torch.cinv
-- @as unary
-- @also Tensor:cinv()
-- @usage torch.cinv(torch.Tensor{2, 4}) --> [0.5 0.25]

--- Returns the square root of each element; NaN for negative elements.
-- @function torch.sqrt
-- @as unary
-- @also Tensor:sqrt()
-- @usage torch.sqrt(torch.Tensor{4, 9}) --> [2 3]

--- Returns the reciprocal of the square root of each element.
-- @function torch.rsqrt
-- @as unary
-- @also Tensor:rsqrt()
-- @usage torch.rsqrt(torch.Tensor{4, 16}) --> [0.5 0.25]

--- Returns e raised to the power of each element.
-- @function torch.exp
-- @as unary
-- @also Tensor:exp()
-- @usage torch.exp(torch.Tensor{0, 1}) --> [1 2.718]

--- Returns the natural logarithm of each element.
-- @function torch.log
-- @as unary
-- @also Tensor:log()
-- @usage torch.log(torch.Tensor{1, 10}) --> [0 2.303]

--- Returns the error function of each element: 2 / sqrt(pi) times the integral of e^-t^2 from 0.
-- @function torch.erf
-- @as unary
-- @also Tensor:erf()
-- @usage torch.erf(torch.Tensor{0, 1}) --> [0 0.8427]

--- Returns log(1 + x) of each element, accurate for small x.
-- @function torch.log1p
-- @as unary
-- @also Tensor:log1p()
-- @usage torch.log1p(torch.Tensor{0, 1}) --> [0 0.6931]

--- Returns the sine of each element, an angle in radians.
-- @function torch.sin
-- @as unary
-- @also Tensor:sin()
-- @usage torch.sin(torch.Tensor{0, 1}) --> [0 0.8415]

--- Returns the cosine of each element, an angle in radians.
-- @function torch.cos
-- @as unary
-- @also Tensor:cos()
-- @usage torch.cos(torch.Tensor{0, 1}) --> [1 0.5403]

--- Returns the tangent of each element, an angle in radians.
-- @function torch.tan
-- @as unary
-- @also Tensor:tan()
-- @usage torch.tan(torch.Tensor{0, 1}) --> [0 1.557]

--- Returns the arcsine of each element, in radians.
-- @function torch.asin
-- @as unary
-- @also Tensor:asin()
-- @usage torch.asin(torch.Tensor{0, 1}) --> [0 1.571]

--- Returns the arccosine of each element, in radians.
-- @function torch.acos
-- @as unary
-- @also Tensor:acos()
-- @usage torch.acos(torch.Tensor{1, 0}) --> [0 1.571]

--- Returns the arctangent of each element, in radians.
-- @function torch.atan
-- @as unary
-- @also Tensor:atan()
-- @usage torch.atan(torch.Tensor{0, 1}) --> [0 0.7854]

--- Returns the hyperbolic sine of each element.
-- @function torch.sinh
-- @as unary
-- @also Tensor:sinh()
-- @usage torch.sinh(torch.Tensor{0, 1}) --> [0 1.175]

--- Returns the hyperbolic cosine of each element.
-- @function torch.cosh
-- @as unary
-- @also Tensor:cosh()
-- @usage torch.cosh(torch.Tensor{0, 1}) --> [1 1.543]

--- Returns the hyperbolic tangent of each element.
-- @function torch.tanh
-- @as unary
-- @also Tensor:tanh()
-- @usage torch.tanh(torch.Tensor{0, 1}) --> [0 0.7616]

--- Returns 1 / (1 + e^-x) of each element.
-- @function torch.sigmoid
-- @as unary
-- @also Tensor:sigmoid()
-- @usage torch.sigmoid(torch.Tensor{0, 2}) --> [0.5 0.8808]

--- Returns the largest integer less than or equal to each element.
-- @function torch.floor
-- @as unary
-- @also Tensor:floor()
-- @usage torch.floor(torch.Tensor{-1.5, 1.5}) --> [-2 1]

--- Returns the smallest integer greater than or equal to each element.
-- @function torch.ceil
-- @as unary
-- @also Tensor:ceil()
-- @usage torch.ceil(torch.Tensor{-1.5, 1.5}) --> [-1 2]

--- Returns the integer part of each element.
-- @function torch.trunc
-- @as unary
-- @also Tensor:trunc()
-- @usage torch.trunc(torch.Tensor{-1.5, 1.5}) --> [-1 1]

--- Rounds each element to the nearest integer.
-- @function torch.round
-- @as unary
-- @also Tensor:round()
-- @usage torch.round(torch.Tensor{-1.6, 1.4}) --> [-2 1]

--- Returns the fractional part of each element, with its sign.
-- @function torch.frac
-- @as unary
-- @also Tensor:frac()
-- @usage torch.frac(torch.Tensor{-1.5, 1.25}) --> [-0.5 0.25]

--- Multiplies each element by a number.
-- @function torch.mul
-- @as number
-- @also Tensor:mul()
-- @usage torch.mul(torch.Tensor{1, 2}, 3) --> [3 6]

--- Divides each element by a number; integer division truncates toward zero.
-- @function torch.div
-- @as number
-- @also Tensor:div()
-- @usage torch.div(torch.Tensor{1, 2}, 4) --> [0.25 0.5]

--- Returns the remainder of a division, with the sign of the dividend.
-- @function torch.fmod
-- @as number
-- @also Tensor:fmod()
-- @usage torch.fmod(torch.Tensor{-3, 5}, 2) --> [-1 1]

--- Older name of torch.fmod.
-- @function torch.mod
-- @as number
-- @also Tensor:mod()
-- @usage torch.mod(torch.Tensor{7}, 4) --> [3]

--- Returns the remainder of a division, with the sign of the divisor.
-- @function torch.remainder
-- @as number
-- @also Tensor:remainder()
-- @usage torch.remainder(torch.Tensor{-3, 5}, 2) --> [1 1]

--- Shifts the bits of each integer left by n; multiplies a floating-point element by 2^n.
-- @function torch.lshift
-- @as number
-- @also Tensor:lshift()
-- @usage torch.lshift(torch.IntTensor{1, 3}, 2) --> [4 12]

--- Shifts the bits of each integer right by n; divides a floating-point element by 2^n.
-- @function torch.rshift
-- @as number
-- @also Tensor:rshift()
-- @usage torch.rshift(torch.IntTensor{8, 12}, 2) --> [2 3]

--- Returns the bitwise AND of each integer and the number.
-- @function torch.bitand
-- @as number
-- @also Tensor:bitand()
-- @usage torch.bitand(torch.IntTensor{6, 5}, 4) --> [4 4]

--- Returns the bitwise OR of each integer and the number.
-- @function torch.bitor
-- @as number
-- @also Tensor:bitor()
-- @usage torch.bitor(torch.IntTensor{1, 2}, 4) --> [5 6]

--- Returns the bitwise XOR of each integer and the number.
-- @function torch.bitxor
-- @as number
-- @also Tensor:bitxor()
-- @usage torch.bitxor(torch.IntTensor{6, 5}, 4) --> [2 1]

--- Raises each element to a power; torch.pow(number, x) raises the number to each element.
-- @function torch.pow
-- @as number
-- @also Tensor:pow()
-- @usage torch.pow(torch.Tensor{2, 3}, 2) --> [4 9]

--- Multiplies corresponding elements.
-- @function torch.cmul
-- @as pair
-- @also Tensor:cmul()
-- @usage torch.cmul(torch.Tensor{1, 2}, torch.Tensor{10, 20}) --> [10 40]

--- Divides corresponding elements.
-- @function torch.cdiv
-- @as pair
-- @also Tensor:cdiv()
-- @usage torch.cdiv(torch.Tensor{9, 8}, torch.Tensor{3, 2}) --> [3 4]

--- Raises each element to the power of the corresponding element.
-- @function torch.cpow
-- @as pair
-- @also Tensor:cpow()
-- @usage torch.cpow(torch.Tensor{2, 3}, torch.Tensor{3, 2}) --> [8 9]

--- Returns the remainders of dividing corresponding elements, with the dividend's sign.
-- @function torch.cfmod
-- @as pair
-- @also Tensor:cfmod()
-- @usage torch.cfmod(torch.Tensor{-3, 5}, torch.Tensor{2, 3}) --> [-1 2]

--- Older name of torch.cfmod.
-- @function torch.cmod
-- @as pair
-- @also Tensor:cmod()
-- @usage torch.cmod(torch.Tensor{7}, torch.Tensor{4}) --> [3]

--- Returns the remainders of dividing corresponding elements, with the divisor's sign.
-- @function torch.cremainder
-- @as pair
-- @also Tensor:cremainder()
-- @usage torch.cremainder(torch.Tensor{-3, 5}, torch.Tensor{2, 3}) --> [1 2]

--- Shifts the bits of each integer left by the corresponding element.
-- @function torch.clshift
-- @as pair
-- @also Tensor:clshift()
-- @usage torch.clshift(torch.IntTensor{1, 1}, torch.IntTensor{1, 3}) --> [2 8]

--- Shifts the bits of each integer right by the corresponding element.
-- @function torch.crshift
-- @as pair
-- @also Tensor:crshift()
-- @usage torch.crshift(torch.IntTensor{8, 8}, torch.IntTensor{1, 3}) --> [4 1]

--- Returns the bitwise AND of corresponding integers.
-- @function torch.cbitand
-- @as pair
-- @also Tensor:cbitand()
-- @usage torch.cbitand(torch.IntTensor{6}, torch.IntTensor{3}) --> [2]

--- Returns the bitwise OR of corresponding integers.
-- @function torch.cbitor
-- @as pair
-- @also Tensor:cbitor()
-- @usage torch.cbitor(torch.IntTensor{6}, torch.IntTensor{3}) --> [7]

--- Returns the bitwise XOR of corresponding integers.
-- @function torch.cbitxor
-- @as pair
-- @also Tensor:cbitxor()
-- @usage torch.cbitxor(torch.IntTensor{6}, torch.IntTensor{3}) --> [5]

--- Returns the angles, in radians, of the points with these y and x coordinates.
-- @function torch.atan2
-- @as pair
-- @also Tensor:atan2()
-- @usage torch.atan2(torch.Tensor{0, 1}, torch.Tensor{1, 0}) --> [0 1.571]

--- Adds a number to each element, or the elements of another tensor, multiplied by factor if it is
-- given.
-- @function torch.add
-- @as scaled
-- @also Tensor:add()
-- @usage torch.add(torch.Tensor{1, 2}, 10, torch.Tensor{1, 1}) --> [11 12]

--- Subtracts a number, or the elements of another tensor, from each element.
-- @function torch.csub
-- @as scaled
-- @also Tensor:csub()
-- @usage torch.csub(torch.Tensor{5, 5}, torch.Tensor{1, 2}) --> [4 3]

--- Returns the maximum of each element and a number, or the corresponding element of a tensor.
-- @function torch.cmax
-- @as either
-- @also Tensor:cmax()
-- @usage torch.cmax(torch.Tensor{1, 5}, 3) --> [3 5]

--- Returns the minimum of each element and a number, or the corresponding element of a tensor.
-- @function torch.cmin
-- @as either
-- @also Tensor:cmin()
-- @usage torch.cmin(torch.Tensor{1, 5}, 3) --> [1 3]

--- Adds the products of corresponding elements of two tensors, multiplied by a number.
-- @function torch.addcmul
-- @as threefold
-- @also Tensor:addcmul()
-- @usage torch.addcmul(torch.Tensor{1}, 2, torch.Tensor{3}, torch.Tensor{4}) --> [25]

--- Adds the quotients of corresponding elements of two tensors, multiplied by a number.
-- @function torch.addcdiv
-- @as threefold
-- @also Tensor:addcdiv()
-- @usage torch.addcdiv(torch.Tensor{1}, 2, torch.Tensor{6}, torch.Tensor{3}) --> [5]

--- Returns 1 where an element equals the number or the corresponding element, else 0.
-- @function torch.eq
-- @as comparison
-- @also Tensor:eq()
-- @usage torch.eq(torch.Tensor{1, 2}, 2) --> [0 1]

--- Returns 1 where an element differs from the number or the corresponding element, else 0.
-- @function torch.ne
-- @as comparison
-- @also Tensor:ne()
-- @usage torch.ne(torch.Tensor{1, 2}, 2) --> [1 0]

--- Returns 1 where an element is less than the number or the corresponding element, else 0.
-- @function torch.lt
-- @as comparison
-- @also Tensor:lt()
-- @usage torch.lt(torch.Tensor{1, 2, 3}, 2) --> [1 0 0]

--- Returns 1 where an element is at most the number or the corresponding element, else 0.
-- @function torch.le
-- @as comparison
-- @also Tensor:le()
-- @usage torch.le(torch.Tensor{1, 2, 3}, 2) --> [1 1 0]

--- Returns 1 where an element is greater than the number or the corresponding element, else 0.
-- @function torch.gt
-- @as comparison
-- @also Tensor:gt()
-- @usage torch.gt(torch.Tensor{1, 2, 3}, 2) --> [0 0 1]

--- Returns 1 where an element is at least the number or the corresponding element, else 0.
-- @function torch.ge
-- @as comparison
-- @also Tensor:ge()
-- @usage torch.ge(torch.Tensor{1, 2, 3}, 2) --> [0 1 1]

--- Returns 1 where an element is NaN, else 0.
-- @function torch.isnan
-- @as classification
-- @also Tensor:isnan()
-- @usage torch.isnan(torch.Tensor{1, 0 / 0, 1 / 0}) --> [0 1 0]

--- Returns 1 where an element is infinite, else 0.
-- @function torch.isinf
-- @as classification
-- @also Tensor:isinf()
-- @usage torch.isinf(torch.Tensor{1, 0 / 0, -1 / 0}) --> [0 0 1]

--- Returns 1 where an element is neither NaN nor infinite, else 0.
-- @function torch.isfinite
-- @as classification
-- @also Tensor:isfinite()
-- @usage torch.isfinite(torch.Tensor{1, 0 / 0, -1 / 0}) --> [1 0 0]

--- Clamps each element to the range from min to max.
-- @function torch.clamp
-- @as pointcall
-- @also Tensor:clamp()
-- @param x tensor: of any size
-- @param min number: the smallest value
-- @param max number: the largest value
-- @usage torch.clamp(torch.Tensor{-5, 0.5, 5}, 0, 1) --> [0 0.5 1]

--- Interpolates linearly between the elements of two tensors: x + weight (y - x).
-- @function torch.lerp
-- @as pointcall
-- @also Tensor:lerp()
-- @param x tensor: of any size
-- @param y tensor: of the same size
-- @param weight number: 0 returns x, 1 returns y
-- @usage torch.lerp(torch.Tensor{0, 10}, torch.Tensor{10, 20}, 0.5) --> [5 15]

--- Sets all elements to a number.
-- @function torch.fill
-- @as selfpoint
-- @also Tensor:fill()
-- @param value number: the value
-- @usage torch.Tensor(3):fill(7) --> [7 7 7]

--- Sets all elements to 0.
-- @function torch.zero
-- @as selfpoint
-- @also Tensor:zero()
-- @usage torch.Tensor{5, 6}:zero() --> [0 0]
