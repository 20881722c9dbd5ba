--- dpt.tensor.operators: + - * / %, unary minus, # and tostring, as Torch7 defines them.
--
-- Invariant: they are stored in tensor classes as __add and so on, where packages can replace them
-- (torch.FloatTensor.__mul = f). Operands are unchanged; the result is new and contiguous. x * y
-- of two tensors is dot, mv or mm, depending on their dimensions; x / tensor does not exist. Two
-- tensors are equal if they are the same object.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local ffi, lib, fail = dptffi.ffi, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType = ffi.istype, core.tensorType
local operators = {}

-- Returns true for numbers and for numeric strings, which Lua's operators accept, too.
local function isNumber(v)
   return type(v) == 'number' or type(v) == 'string' and tonumber(v) ~= nil
end

local function wrong(sign, a, b)
   return fail('operator %s: wanted tensors of one type and numbers, got %s', sign,
      core.describe(a, b))
end

--- Returns a new tensor with v's elements, on v's device, to be modified in place.
local function copyOf(v)
   local out = core.fresh(v.kind_)
   lib.clone(out, v)
   return out
end

function operators.add(a, b)
   if isNumber(a) then a, b = b, a end
   if not istype(tensorType, a) or not (isNumber(b) or istype(tensorType, b)) then
      wrong('+', a, b)
   end
   return copyOf(a):add(b)
end

function operators.sub(a, b)
   if isNumber(a) then return copyOf(b):mul(-1):add(a) end
   if not istype(tensorType, a) then wrong('-', a, b) end
   if isNumber(b) then return copyOf(a):add(-b) end
   if not istype(tensorType, b) then wrong('-', a, b) end
   return copyOf(a):csub(b)
end

function operators.mul(a, b)
   if isNumber(a) then a, b = b, a end
   if not istype(tensorType, a) then wrong('*', a, b) end
   if isNumber(b) then return copyOf(a):mul(b) end
   if not istype(tensorType, b) then wrong('*', a, b) end
   local na, nb = a.ndim_, b.ndim_
   if na == 1 and nb == 1 then return a:dot(b) end
   if na == 2 and nb == 1 then return a.mv(a, b) end
   if na == 2 and nb == 2 then return a.mm(a, b) end
   return fail('operator *: wanted vectors or matrices, got %s and %s', core.describeSize(a),
      core.describeSize(b))
end

function operators.div(a, b)
   if not istype(tensorType, a) or not isNumber(b) then
      fail('operator /: wanted a tensor and a number, got %s', core.describe(a, b))
   end
   return copyOf(a):div(b)
end

function operators.mod(a, b)
   if not istype(tensorType, a) or not isNumber(b) then
      fail('operator %%: wanted a tensor and a number, got %s', core.describe(a, b))
   end
   return copyOf(a):remainder(b)
end

function operators.unm(a) return copyOf(a):mul(-1) end

function operators.eq(a, b) return rawequal(a, b) end
function operators.len(t) return t:size() end
function operators.tostring(t) return core.tensorText(t) end

-- Operators that Torch7 leaves undefined for scripts to define.
for name, sign in pairs{pow = '^', concat = '..', lt = '<', le = '<=', call = '()'} do
   operators[name] = function(a, b)
      fail('operator %s: tensors have none, got %s', sign,
         name == 'call' and core.describe(a) or core.describe(a, b))
   end
end

for name, f in pairs(operators) do
   core.method('__' .. name, f)
   core.tensorAnswers['__' .. name .. '__'] = f
end
