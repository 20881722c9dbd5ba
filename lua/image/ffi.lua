--- image.ffi: the binding to libdpt_image, the only file that loads it, and the checks of
-- arguments.
--
-- Invariant: C receives only host tensors of bytes, floats or doubles, with 2 or 3 dimensions and
-- at least one element; the caller keeps them alive. Errors are raised at the caller's line.
local dpt = package.loaded.dpt or require 'dpt' -- which would make cudnn a global (dpt.compat)
local dptffi = require 'dpt.ffi'
local ffi, type, fail = dptffi.ffi, dptffi.type, dptffi.fail
local torch = dpt.torch

local here = debug.getinfo(1, 'S').source:match '^@(.*)ffi%.lua$' or './'
dptffi.own(here)

local path = dptffi.find('libdpt_image', here)
if not path then
   error("image: libdpt_image.so not found beside image's Lua files (" .. here .. '), in'
      .. ' ../../build or on package.cpath; build it with scripts/build, or install the rock image',
      0)
end
local C = ffi.load(path)
ffi.cdef 'const char *dpt_image_cdef(void);'
ffi.cdef(ffi.string(C.dpt_image_cdef()))

local BYTES = {['torch.ByteTensor'] = 1, ['torch.FloatTensor'] = 4, ['torch.DoubleTensor'] = 8}
local newImage = ffi.typeof 'dpt_image'

local binding = {ffi = ffi, C = C, type = type, fail = fail, torch = torch}

--- Raises the error message of a C function that failed: check(fn, C.dpt_image_x(...)).
function binding.check(fn, status)
   if status ~= 0 then fail('%s: %s', fn, ffi.string(C.dpt_image_message())) end
end

function binding.threads() return torch.getnumthreads() end

local function describe(v)
   if not torch.isTensor(v) then return v == nil and 'nil' or 'a ' .. torch.type(v) end
   if v:dim() == 0 then return ('a %s without elements'):format(torch.type(v)) end
   return ('a %s of size %s'):format(torch.type(v), table.concat(v:size():totable(), 'x'))
end
binding.describe = describe

--- Returns the tensor if it is a picture, else raises. A picture is a host tensor of bytes, floats
-- or doubles with at least one element and `least` to `most` dimensions (2 to 3).
function binding.picture(fn, name, v, least, most)
   least, most = least or 2, most or 3
   if not torch.isTensor(v) or not BYTES[torch.type(v)] then
      fail("%s: argument '%s' is %s, wanted a ByteTensor, FloatTensor or DoubleTensor%s", fn, name,
         describe(v), torch.isTensor(v) and torch.type(v):find 'Cuda'
         and ': pictures are computed on the host, call :float() first' or '')
   end
   if v:dim() < least or v:dim() > most or v:nElement() == 0 then
      fail("%s: argument '%s' is %s, wanted %d%s dimensions and at least one element", fn, name,
         describe(v), least, most > least and ' to ' .. most or '')
   end
   return v
end

--- Returns the tensor if it is a picture of three planes, else raises.
function binding.three(fn, name, v)
   binding.picture(fn, name, v, 3, 3)
   if v:size(1) ~= 3 then
      fail("%s: argument '%s' is %s, wanted 3 planes", fn, name, describe(v))
   end
   return v
end

--- Returns the number; raises for other values, with `whole` for fractions, and below `least`.
function binding.number(fn, name, v, whole, least)
   local n = tonumber(v)
   if not n or n ~= n or whole and n % 1 ~= 0 or least and n < least then
      fail("%s: argument '%s' is %s, wanted %s%s", fn, name, tostring(v),
         whole and 'an integer' or 'a number', least and ' of at least ' .. least or '')
   end
   return n
end

--- Returns values[v]; raises if it is nil.
function binding.word(fn, name, v, values)
   local found = values[v]
   if found == nil then
      local known = {}
      for word in pairs(values) do known[#known + 1] = "'" .. word .. "'" end
      table.sort(known)
      fail("%s: argument '%s' is %s, wanted %s", fn, name, tostring(v),
         table.concat(known, ' or '))
   end
   return found
end

--- Returns the C struct of a picture with 2 or 3 dimensions.
function binding.struct(v)
   local m, planes = newImage(), v:dim() == 3 and 1 or 0
   m.data, m.bytes = v:data(), BYTES[torch.type(v)]
   m.size[0], m.stride[0] = planes == 1 and v:size(1) or 1, planes == 1 and v:stride(1) or 0
   for d = 1, 2 do m.size[d], m.stride[d] = v:size(d + planes), v:stride(d + planes) end
   return m
end

--- Returns a destination of the given size and of the source's type, and the tensor to compute
-- into: the destination, or a new tensor if the destination shares memory with the source.
-- `deliver` copies the new tensor to the destination.
function binding.result(fn, dst, src, ...)
   if dst == nil then
      dst = src.new(...)
      return dst, dst
   end
   if torch.type(dst) ~= torch.type(src) then
      fail("%s: the destination is %s, wanted a %s as the source is", fn, describe(dst),
         torch.type(src))
   end
   if table.concat(dst:size():totable(), 'x') ~= table.concat({...}, 'x') then dst:resize(...) end
   local shares = dst:storage():data() == src:storage():data()
   return dst, shares and src.new(...) or dst
end

function binding.deliver(dst, computed)
   if dst ~= computed then dst:copy(computed) end
   return dst
end

return binding
